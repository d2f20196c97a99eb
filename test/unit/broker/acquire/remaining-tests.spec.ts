import { expect } from '@playwright/test';
import type { RemainingParams } from '../../../../src/broker/rpc/messages/protocol.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';

/**
 * Idle browsers are kept as long as remaining tests can use them, but not for long. In this broker, `p0` has
 * `reuse: 'test'` and `p1` 'run'.
 */

/** @param projects how many browsers their tests can use at once, and which running attempts another one follows */
const reportOf = (projects: Record<string, [atOnce: number, ...followed: string[]]>): RemainingParams['projects'] =>
  Object.entries(projects).map(([project, [atOnce, ...followed]]) => ({ project, atOnce, running: [], followed }));
const lease = { project: 'p1', parallelIndex: 0, needMs: 1_000 };
const HEALTHY = { condition: 'healthy', toBeReplaced: false } as const;

test('keeps a browser while a test remains for it, and ends it at once when none does', async ({ broker }) => {
  const { clock, connect, recorder, leases, service, until } = broker;
  leases.remaining(reportOf({ p1: [3] }));
  const first = await connect();
  const { sessionId } = await until(first.lease(lease));
  await until(first.giveBack({ sessionId, ...HEALTHY }));
  await clock.advance(20_000);
  const second = await connect();
  const again = await until(second.lease({ ...lease, parallelIndex: 1 }));
  expect(again).toMatchObject({ sessionId, reused: true });
  leases.remaining(reportOf({ p1: [1] }));
  await until(second.giveBack({ sessionId, ...HEALTHY }));
  expect(recorder.sessions).toMatchObject([{ endReason: null }]);
  // The report about the last test's end may arrive before its worker gives the browser back, or after.
  leases.remaining(reportOf({ p1: [0] }));
  await clock.advance(service.latency);
  expect(recorder.sessions).toMatchObject([{ endReason: 'idle' }]);
});

for (const [name, running, endReason] of [
  ['keeps none for a test that runs in a worker with a browser', [0], 'idle'],
  // Its worker has run all its tests; another one is about to start.
  ['keeps one for a test that has not begun, though another worker has a browser', [], null],
  ['keeps one for a test that runs in a worker without a browser', [1], null],
] as const) {
  test(name, async ({ broker }) => {
    const { connect, recorder, leases, until } = broker;
    const [a, b] = [await connect(), await connect()];
    const one = await until(a.lease(lease));
    const other = await until(b.lease({ ...lease, parallelIndex: 1 }));
    leases.remaining([{ project: 'p1', atOnce: 1, running: [...running], followed: [] }]);
    await until(b.giveBack({ sessionId: other.sessionId, ...HEALTHY }));
    const reasons = Object.fromEntries(recorder.sessions.map((each) => [each.sessionId, each.endReason]));
    expect(reasons).toEqual({ [one.sessionId]: null, [other.sessionId]: endReason });
  });
}

for (const [remaining, tests] of [
  ['unknown', null],
  ['many', reportOf({ p1: [99] })],
] as const) {
  test(`keeps an idle browser for 30 s when the remaining tests are ${remaining}`, async ({ broker }) => {
    const { clock, connect, recorder, leases, until } = broker;
    leases.remaining(reportOf({ p1: [1] }));
    leases.remaining(tests === null ? null : [...tests]);
    const line = await connect();
    const { sessionId } = await until(line.lease(lease));
    await until(line.giveBack({ sessionId, ...HEALTHY }));
    await clock.advance(29_000);
    expect(recorder.sessions).toMatchObject([{ endReason: null }]);
    await clock.advance(6_000);
    expect(recorder.sessions).toMatchObject([{ endReason: 'idle' }]);
  });
}

test('orders one browser for each announced worker, whether that asks before, at once or never', async ({ broker }) => {
  const { clock, connect, leases, recorder, service, until } = broker;
  const [a, b] = [await connect(), await connect()];
  await until(a.lease(lease));
  leases.remaining(reportOf({ p1: [9] }));
  leases.prefetch({ projects: ['p1', 'p1', 'p1'] });
  await clock.advance(service.latency);
  expect(service.asks).toBe(3);
  await until(b.lease({ ...lease, parallelIndex: 1 }));
  expect(service.asks).toBe(3);
  // Nothing is ordered in the place of one that nobody has taken.
  await clock.advance(60_000);
  expect(service.asks).toBe(3);
  expect(recorder.sessions.map(({ endReason }) => endReason).sort()).toEqual(['idle', null, null]);
});

test.describe('at a limit of one browser', () => {
  test.use({ limit: 1 });

  test('ends an idle browser when a worker of another plan waits for its place', async ({ broker }) => {
    const { connect, leases, until } = broker;
    leases.remaining(reportOf({ p1: [1], p2: [1] }));
    const [a, b] = [await connect(), await connect()];
    const { sessionId } = await until(a.lease(lease));
    await until(a.giveBack({ sessionId, ...HEALTHY }));
    const other = await until(b.lease({ ...lease, project: 'p2', parallelIndex: 1 }));
    expect(other.sessionId).not.toBe(sessionId);
  });

  test('asks a worker without a test for its browser after 5 s, and no other one for the next 5 s', async ({
    broker,
  }) => {
    const { clock, connect, leases, until } = broker;
    leases.remaining(reportOf({ p1: [2] }));
    const [a, b] = [await connect(), await connect()];
    const { sessionId } = await until(a.lease(lease));
    expect(await until(a.isWanted({ idleMs: 5_000 }))).toBe(false); // no worker waits
    const waiting = b.lease({ ...lease, parallelIndex: 1 });
    await clock.advance(1_000);
    expect(await until(b.isWanted({ idleMs: 5_000 }))).toBe(false); // it has none
    expect(await until(a.isWanted({ idleMs: 4_000 }))).toBe(false);
    expect(await until(a.isWanted({ idleMs: 5_000 }))).toBe(true);
    expect(await until(a.isWanted({ idleMs: 6_000 }))).toBe(false);
    await clock.advance(5_000);
    expect(await until(a.isWanted({ idleMs: 11_000 }))).toBe(true);
    await until(a.giveBack({ sessionId, ...HEALTHY }));
    expect(await until(waiting)).toMatchObject({ sessionId });
    expect(await until(b.isWanted({ idleMs: 60_000 }))).toBe(false);
  });
});

test("with `reuse: 'test'`, prefetches only during a test that another follows in its worker", async ({ broker }) => {
  const { clock, connect, leases, service, until } = broker;
  const own = { project: 'p0', parallelIndex: 0, needMs: 1_000 };
  leases.remaining(reportOf({ p0: [2, 'a'] }));
  const line = await connect();
  await until(line.lease(own));
  // The second of two is prefetched …
  await until(line.lease({ ...own, prefetch: true, during: 'a' }));
  // … and none while the second one runs, even before the report that it has started.
  const prefetch = line.lease({ ...own, prefetch: true, during: 'b' }).catch(() => null);
  await clock.advance(60_000);
  leases.remaining(reportOf({ p0: [1] }));
  await clock.advance(60_000);
  expect(service.asks).toBe(2);
  await until(line.cancelPrefetch());
  await prefetch;
});
