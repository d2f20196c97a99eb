import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { propertyRuns } from '../../../support/property-runs.ts';
import { history } from '../../../support/unit/broker/sweep-steps.ts';
import { World } from '../../../support/unit/broker/sweep-world.ts';

const RUNS = propertyRuns(3_000);
/** Ten thousands of small files: nothing for a disk, where there is another place. */
const IN_MEMORY = '/dev/shm';

test('whatever happens, sweeps stop what dead runs left, nothing of a live one and nothing that is not ours', async () => {
  const root = mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'sweep-model-'));
  mock.timers.enable({ apis: ['Date'] });
  let histories = 0;
  let swept = 0;
  try {
    const property = fc.asyncProperty(history, async (steps) => {
      histories += 1;
      const folder = join(root, String(histories));
      mkdirSync(folder);
      const world = new World(folder);
      for (const each of steps) await world.take(each);
      world.checkRecovery();
      swept += world.stopped;
    });
    await fc.assert(property, RUNS);
  } finally {
    mock.timers.reset();
    rmSync(root, { recursive: true, force: true });
  }
  // A model in which nothing ever comes to pass holds everything.
  expect(swept).toBeGreaterThan(RUNS.numRuns / 5);
});
