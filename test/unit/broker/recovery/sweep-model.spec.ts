import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { history } from '../../../models/broker/recovery/sweep-steps.ts';
import { World } from '../../../models/broker/recovery/sweep-world.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const RUNS = {
  service: propertyRuns(3_000),
  provider: propertyRuns(1_000),
  listless: propertyRuns(1_000),
  addresses: propertyRuns(1_000),
};
/** A place for tens of thousands of small files that does not use the disk, if there is one. */
const IN_MEMORY = '/dev/shm';

for (const way of ['service', 'provider', 'listless', 'addresses'] as const) {
  test(`${way}: in every history, sweeps stop what dead runs left, and never touch a live run or foreign sessions`, async () => {
    const root = mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'sweep-model-'));
    mock.timers.enable({ apis: ['Date'] });
    let histories = 0;
    let swept = 0;
    try {
      const property = fc.asyncProperty(history, async (steps) => {
        histories += 1;
        const directory = join(root, String(histories));
        mkdirSync(directory);
        const world = new World(directory, way);
        for (const each of steps) await world.take(each);
        world.checkRecovery();
        swept += world.stopped;
      });
      await fc.assert(property, RUNS[way]);
    } finally {
      mock.timers.reset();
      rmSync(root, { recursive: true, force: true });
    }
    // A model in which nothing happens would satisfy every check. Of browsers that run already, none is ever ended.
    if (way === 'addresses') expect(swept).toBe(0);
    else expect(swept).toBeGreaterThan(RUNS[way].numRuns / 5);
  });
}
