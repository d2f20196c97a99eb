import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { propertyParts } from '../../../support/property-runs.ts';
import { planOf, registryOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';
import { type GivenRun, SOURCES } from '../../../support/unit/broker/simulated/given-run.ts';
import { SimulatedRun } from '../../../support/unit/broker/simulated/run.ts';

/**
 * Random runs: files in each mode, retries, failures, skipped tests, repetitions, a project that depends on another one,
 * `--max-failures`, one to four workers, and messages that take any time. With `reuse: 'test'`, as many browsers are
 * acquired as tries asked for one; with `'run'`, no more than there are workers, and one for each failed try at most, whose
 * retry may begin in another worker before its own has ended; none outlives the last test.
 */

const LIMIT_MS = 600_000;

const oneTest = fc.record({
  names: fc.constantFrom('page' as const, 'page' as const, 'page' as const, 'own' as const),
  opens: fc.boolean(),
  fails: fc.constantFrom(0, 0, 0, 1, 2),
  ms: fc.constantFrom(1, 30, 200, 2_000),
  skips: fc.constantFrom(false, false, false, true),
});
const oneFile = fc.record({
  mode: fc.constantFrom('default' as const, 'serial' as const, 'parallel' as const),
  project: fc.constantFrom(0, 0, 1),
  repeats: fc.constantFrom(1, 1, 2),
  tests: fc.array(oneTest, { minLength: 1, maxLength: 4 }),
});
const oneRun = (reuse: GivenRun['reuse']): fc.Arbitrary<GivenRun & { latency: number }> =>
  fc.record({
    files: fc.array(oneFile, { minLength: 1, maxLength: 4 }),
    workers: fc.integer({ min: 1, max: 4 }),
    retries: fc.nat(2),
    maxFailures: fc.constantFrom(0, 0, 0, 1, 2, 3),
    reuse: fc.constant(reuse),
    delays: fc.array(fc.constantFrom(0, 1, 3, 20, 60, 300), { minLength: 5, maxLength: 23 }),
    latency: fc.constantFrom(1, 40, 500, 3_000),
  });

let folder = '';
test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'poolwright-run-model-'));
  for (const [mode, source] of Object.entries(SOURCES)) writeFileSync(join(folder, `${mode}.spec.ts`), source);
});
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function play({ latency, ...given }: GivenRun & { latency: number }) {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  service.latency = latency;
  const plan = planOf({ reuse: given.reuse });
  const parts = registryOf({ client: service, clock, plans: [plan, plan], workers: given.workers });
  const { registry, recorder } = parts;
  const run = new SimulatedRun(given, registry, clock, (mode) => join(folder, `${mode}.spec.ts`));
  let over = false;
  const ended = run.run().then(() => {
    over = true;
  });
  for (let ms = 0; !over && ms < LIMIT_MS; ms += 1_000) await clock.advance(1_000);
  expect(over, 'the run has no end').toBe(true);
  await ended;
  await clock.advance(latency + 10_000);
  const left = recorder.sessions.filter(({ endingAt }) => endingAt === null).length;
  const closed = registry.endAll();
  await clock.advance(60_000);
  await closed;
  return { run, left, acquired: recorder.sessions.length };
}

for (const { part, runs } of propertyParts(3, 900)) {
  test(`reuse: 'test': a browser for each try that asks for one, never more (${part})`, async () => {
    const property = fc.asyncProperty(oneRun('test'), async (given) => {
      const { run, left, acquired } = await play(given);
      expect(left, 'browsers left after the last test').toBe(0);
      expect(acquired, `browsers, of ${run.asked} tries`).toBeLessThanOrEqual(run.asked);
      if (!run.interrupted) expect(acquired).toBe(run.asked);
    });
    await fc.assert(property, runs);
  });
}

for (const { part, runs } of propertyParts(2, 400)) {
  test(`reuse: 'run': browsers are kept while tests are to come, and no longer (${part})`, async () => {
    const property = fc.asyncProperty(oneRun('run'), async (given) => {
      const { run, left, acquired } = await play(given);
      expect(left, 'browsers left after the last test').toBe(0);
      expect(acquired).toBeLessThanOrEqual(given.workers + run.failed);
    });
    await fc.assert(property, runs);
  });
}
