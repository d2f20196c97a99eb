import { equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { type GivenRun, SOURCES } from '../../../models/broker/run/given-run.ts';
import { SimulatedRun } from '../../../models/broker/run/simulated-run.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { leasingOf, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/**
 * Random runs: files in each mode, retries, failures, skipped tests, repetitions, a project that depends on another
 * one, `--max-failures`, one to four workers, and messages with any delay. With `reuse: 'test'`, exactly as many
 * browsers are acquired as test attempts requested one. With `'run'`, at most one per worker plus one per failed
 * attempt, whose retry may begin in another worker before its own has ended. No browser outlives the last test.
 */

const LIMIT_MS = 600_000;

/** A run, and what the service provides for it. */
interface GivenWorld extends GivenRun {
  /** How long the service takes to respond, in ms. */
  latency: number;
  /** How many browsers the workspace may have at a time; 0: enough for every worker. */
  limit: number;
}

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
const oneRun = (reuse: GivenRun['reuse']): fc.Arbitrary<GivenWorld> =>
  fc.record({
    files: fc.array(oneFile, { minLength: 1, maxLength: 4 }),
    workers: fc.integer({ min: 1, max: 4 }),
    retries: fc.nat(2),
    maxFailures: fc.constantFrom(0, 0, 0, 1, 2, 3),
    reuse: fc.constant(reuse),
    delays: fc.array(fc.constantFrom(0, 1, 3, 20, 60, 300), { minLength: 5, maxLength: 23 }),
    latency: fc.constantFrom(1, 40, 500, 3_000),
    limit: fc.constantFrom(0, 0, 1, 2),
  });

let directory = '';
test.beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'poolwright-run-model-'));
  for (const [mode, source] of Object.entries(SOURCES)) writeFileSync(join(directory, `${mode}.spec.ts`), source);
});
test.afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function play({ latency, limit, ...given }: GivenWorld) {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  service.latency = latency;
  if (limit > 0) service.limit = limit;
  const plan = planOf({ reuse: given.reuse, acquireTimeout: LIMIT_MS });
  const parts = leasingOf({ client: service, clock, plans: [plan, plan], workers: given.workers });
  const { leases, endAll, recorder } = parts;
  const run = new SimulatedRun(given, leases, clock, (mode) => join(directory, `${mode}.spec.ts`));
  let over = false;
  const ended = run.run().then(() => {
    over = true;
  });
  for (let ms = 0; !over && ms < LIMIT_MS; ms += 1_000) await clock.advance(1_000);
  ok(over, 'the run has no end');
  await ended;
  await clock.advance(latency + 10_000);
  const left = recorder.sessions.filter(({ endingAt }) => endingAt === null).length;
  const closed = endAll();
  await clock.advance(60_000);
  await closed;
  return { run, left, acquired: recorder.sessions.length };
}

for (const { part, runs } of propertyParts(3, 900)) {
  test(`reuse: 'test': one browser for each attempt that requests one, never more (${part})`, async () => {
    const property = fc.asyncProperty(oneRun('test'), async (given) => {
      const { run, left, acquired } = await play(given);
      equal(left, 0, 'browsers are left after the last test');
      ok(acquired <= run.asked, `${acquired} browsers for ${run.asked} tries`);
      if (!run.interrupted) equal(acquired, run.asked);
    });
    await fc.assert(property, runs);
  });
}

for (const { part, runs } of propertyParts(2, 400)) {
  test(`reuse: 'run': keeps browsers while tests remain, and no longer (${part})`, async () => {
    const property = fc.asyncProperty(oneRun('run'), async (given) => {
      const { run, left, acquired } = await play(given);
      equal(left, 0, 'browsers are left after the last test');
      ok(acquired <= given.workers + run.failed, `${acquired} browsers for ${given.workers} workers`);
    });
    await fc.assert(property, runs);
  });
}
