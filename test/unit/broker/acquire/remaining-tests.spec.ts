import { expect } from '@playwright/test';
import type { RemainingParams } from '../../../../src/broker/rpc/messages/protocol.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';

/**
 * Idle browsers are kept as long as remaining tests can use them. In this broker, `p0` has `reuse: 'test'` and `p1`
 * 'run'.
 */

const NONE = { waiting: 0, certain: 0, groups: 0, asks: 0, running: [] };
/** A worker that runs a group. */
const runs = (slot: number, goesOn: boolean, test = '') => ({ slot, test, goesOn, asks: goesOn });
const told = (projects: Record<string, Partial<RemainingParams['projects'][number]>>) =>
  Object.entries(projects).map(([project, more]) => ({ ...NONE, project, ...more }));
const lease = { project: 'p1', parallelIndex: 0, needMs: 1_000 };
const HOUR = 3_000_000;

test('keeps a browser for an hour while a test remains for it, and ends it at once when none does', async ({
  broker,
}) => {
  const { clock, connect, recorder, leases, service, until } = broker;
  leases.remaining(told({ p1: { waiting: 3, groups: 2, running: [runs(0, false)] } }));
  const first = await connect();
  const { sessionId } = await until(first.lease(lease));
  await until(first.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
  await clock.advance(HOUR);
  const second = await connect();
  const again = await until(second.lease({ ...lease, parallelIndex: 1 }));
  expect(again).toMatchObject({ sessionId, reused: true });
  leases.remaining(told({ p1: { running: [runs(1, false)] } }));
  await until(second.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
  // The report about the last test's end may arrive before its worker gives the browser back, or after.
  leases.remaining(told({ p1: {} }));
  await clock.advance(service.latency);
  expect(recorder.sessions).toMatchObject([{ endReason: 'idle' }]);
});

test('keeps none for tests of a worker that has a browser', async ({ broker }) => {
  const { connect, recorder, leases, until } = broker;
  const [a, b] = [await connect(), await connect()];
  const one = await until(a.lease(lease));
  const other = await until(b.lease({ ...lease, parallelIndex: 1 }));
  leases.remaining(told({ p1: { waiting: 9, running: [runs(0, true)] } }));
  await until(b.giveBack({ sessionId: other.sessionId, condition: 'healthy', toBeReplaced: false }));
  const reasons = Object.fromEntries(recorder.sessions.map((each) => [each.sessionId, each.endReason]));
  expect(reasons).toEqual({ [one.sessionId]: null, [other.sessionId]: 'idle' });
});

test('keeps a browser for 30 s while the remaining tests are unknown', async ({ broker }) => {
  const { clock, connect, recorder, leases, until } = broker;
  // The reporter has sent its report and is gone.
  leases.remaining(told({ p1: { waiting: 1, groups: 1 } }));
  leases.remaining(null);
  const line = await connect();
  const { sessionId } = await until(line.lease(lease));
  await until(line.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
  await clock.advance(29_000);
  expect(recorder.sessions).toMatchObject([{ endReason: null }]);
  await clock.advance(6_000);
  expect(recorder.sessions).toMatchObject([{ endReason: 'idle' }]);
});

test.describe('at a limit of one browser', () => {
  test.use({ limit: 1 });

  test('ends an idle browser when a worker of another plan waits for its place', async ({ broker }) => {
    const { connect, leases, until } = broker;
    leases.remaining(told({ p1: { waiting: 1, groups: 1 }, p2: { waiting: 1, groups: 1 } }));
    const [a, b] = [await connect(), await connect()];
    const { sessionId } = await until(a.lease(lease));
    await until(a.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
    const other = await until(b.lease({ ...lease, project: 'p2', parallelIndex: 1 }));
    expect(other.sessionId).not.toBe(sessionId);
  });

  test('asks a worker without a test for its browser, and nobody else for the next 5 s', async ({ broker }) => {
    const { clock, connect, leases, until } = broker;
    // The waiting group may be held back by a lock.
    leases.remaining(told({ p1: { waiting: 1, groups: 1, running: [runs(1, false)] } }));
    const [a, b] = [await connect(), await connect()];
    const { sessionId } = await until(a.lease(lease));
    expect(await until(a.isWanted({ idleMs: 1_000 }))).toBe(false);
    const waiting = b.lease({ ...lease, parallelIndex: 1 });
    await clock.advance(1_000);
    expect(await until(b.isWanted({ idleMs: 1_000 }))).toBe(false); // it has none
    expect(await until(a.isWanted({ idleMs: 1_000 }))).toBe(true);
    expect(await until(a.isWanted({ idleMs: 2_000 }))).toBe(false);
    await clock.advance(5_000);
    expect(await until(a.isWanted({ idleMs: 7_000 }))).toBe(true);
    await until(a.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
    expect(await until(waiting)).toMatchObject({ sessionId });
    expect(await until(b.isWanted({ idleMs: 60_000 }))).toBe(false);
  });

  for (const [why, remaining] of [
    ['runs a group', told({ p1: { waiting: 1, running: [runs(0, true), runs(1, false)] } })],
    ['may have tests that are unknown', null],
  ] as const) {
    test(`leaves a worker that ${why} its browser for 30 s without a test`, async ({ broker }) => {
      const { clock, connect, leases, until } = broker;
      leases.remaining(remaining);
      const [a, b] = [await connect(), await connect()];
      const { sessionId } = await until(a.lease(lease));
      const waiting = b.lease({ ...lease, parallelIndex: 1 });
      await clock.advance(29_000);
      expect(await until(a.isWanted({ idleMs: 29_000 }))).toBe(false);
      await clock.advance(1_000);
      expect(await until(a.isWanted({ idleMs: 30_000 }))).toBe(true);
      await until(a.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
      await until(waiting);
    });
  }
});

test("prefetches no browser for a test that does not run, with `reuse: 'test'`", async ({ broker }) => {
  const { clock, connect, leases, service, until } = broker;
  const own = { project: 'p0', parallelIndex: 0, needMs: 1_000 };
  leases.remaining(told({ p0: { waiting: 1, asks: 2, running: [runs(0, true, 'a')] } }));
  const line = await connect();
  await until(line.lease(own));
  // The second of two is prefetched …
  await until(line.lease({ ...own, prefetch: true, during: 'a' }));
  // … and none while the second one runs, even before the report that it has started.
  const prefetch = line.lease({ ...own, prefetch: true, during: 'b' }).catch(() => null);
  await clock.advance(60_000);
  leases.remaining(told({ p0: { asks: 2, running: [runs(0, false, 'b')] } }));
  await clock.advance(60_000);
  expect(service.asks).toBe(2);
  await until(line.cancelPrefetch());
  await prefetch;
});
