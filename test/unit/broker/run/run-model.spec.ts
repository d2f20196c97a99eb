import { equal, ok } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import type { GivenRun } from '../../../models/broker/run/given-run.ts';
import { SimulatedRun } from '../../../models/broker/run/simulated-run.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { hosted, leasingOf, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/**
 * Random runs: files in each mode, retries, failures, skipped tests, repetitions, a project that depends on another
 * one, `--max-failures`, one to four workers, and messages with any delay. With `reuse: 'test'`, each attempt that
 * requests a browser gets its own one, and few others are acquired: for workers whose next test requests none, and for
 * failed tests, whose prefetched browser comes back too late. With `'run'`, at most one per worker plus one per failed
 * attempt, whose retry may begin in another worker before its own has ended, and those that were idle for too long. No
 * browser outlives the last test for long.
 */

const LIMIT_MS = 600_000;
/** How long a browser may be idle, in ms. */
const IDLE_MS = 30_000;
const MARGIN_MS = 10_000;

/** A run, and what the service provides for it. */
interface GivenWorld extends GivenRun {
  /** How long the service takes to respond, in ms. */
  latency: number;
  /** How many browsers the workspace may have at a time; 0: enough for every worker. */
  limit: number;
}

const oneTest = fc.record({
  opens: fc.constantFrom(true, true, true, false),
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
    fullyParallel: fc.boolean(),
    workers: fc.integer({ min: 1, max: 4 }),
    retries: fc.nat(2),
    maxFailures: fc.constantFrom(0, 0, 0, 1, 2, 3),
    reuse: fc.constant(reuse),
    delays: fc.array(fc.constantFrom(0, 1, 3, 20, 60, 300), { minLength: 5, maxLength: 23 }),
    latency: fc.constantFrom(1, 40, 500, 3_000),
    limit: fc.constantFrom(0, 0, 1, 2),
  });

async function play({ latency, limit, ...given }: GivenWorld) {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  service.latency = latency;
  if (limit > 0) service.limit = limit;
  const plan = planOf({ reuse: given.reuse, acquireTimeout: LIMIT_MS });
  const parts = leasingOf({ provider: hosted(service), clock, plans: [plan, plan], workers: given.workers });
  const { leases, endAll, recorder } = parts;
  // When each browser came back from its last worker, in ms since the epoch.
  const backAt = new Map<string, number>();
  const giveBack = leases.giveBack.bind(leases);
  leases.giveBack = async (params, holder) => {
    backAt.set(params.sessionId, clock.now());
    await giveBack(params, holder);
  };
  const run = new SimulatedRun(given, leases, clock);
  let over = false;
  const ended = run.run().then(() => {
    over = true;
  });
  for (let ms = 0; !over && ms < LIMIT_MS; ms += 1_000) await clock.advance(1_000);
  ok(over, 'the run has no end');
  await ended;
  // For tests that will not run: after `--max-failures`, or in a project whose dependency has failed.
  await clock.advance(latency + IDLE_MS + MARGIN_MS);
  const left = recorder.sessions.filter(({ endingAt }) => endingAt === null).length;
  // Only the time without a worker justifies that such an end costs another browser.
  const tooOld = recorder.sessions.filter(({ sessionId, startedAt, endingAt, endReason }) => {
    const since = backAt.get(sessionId) ?? Date.parse(startedAt);
    return endReason === 'idle' && endingAt !== null && Date.parse(endingAt) - since >= IDLE_MS;
  }).length;
  const closed = endAll();
  await clock.advance(60_000);
  await closed;
  return { run, left, tooOld, acquired: recorder.sessions.length };
}

for (const { part, runs } of propertyParts(3, 900)) {
  test(`reuse: 'test': one browser for each attempt that requests one, and few others (${part})`, async () => {
    const property = fc.asyncProperty(oneRun('test'), async (given) => {
      const { run, left, acquired } = await play(given);
      equal(left, 0, 'browsers are left after the last test');
      const most = run.asked + given.workers + run.failed;
      ok(
        acquired <= most,
        `${acquired} browsers for ${run.asked} tries, ${given.workers} workers, ${run.failed} failures`,
      );
      if (!run.interrupted) ok(acquired >= run.asked, `${acquired} browsers for ${run.asked} tries`);
    });
    await fc.assert(property, runs);
  });
}

for (const { part, runs } of propertyParts(2, 400)) {
  test(`reuse: 'run': keeps browsers while tests remain, and no longer (${part})`, async () => {
    const property = fc.asyncProperty(oneRun('run'), async (given) => {
      const { run, left, acquired, tooOld } = await play(given);
      equal(left, 0, 'browsers are left after the last test');
      const most = given.workers + run.failed + tooOld;
      ok(acquired <= most, `${acquired} browsers for ${given.workers} workers, ${run.failed} failures, ${tooOld} ends`);
    });
    await fc.assert(property, runs);
  });
}
