import { expect } from '@playwright/test';
import type { RemainingParams } from '../../../../src/broker/rpc/protocol.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';

/** Idle browsers are kept for as long as tests are to come that can use them. `p0` of this broker has `reuse: 'test'`, `p1` 'run'. */

const NONE = { waiting: 0, certain: 0, groups: 0, asks: 0, running: [] };
/** A worker that runs a group. */
const runs = (slot: number, goesOn: boolean, test = '') => ({ slot, test, goesOn, asks: goesOn });
const told = (projects: Record<string, Partial<RemainingParams['projects'][number]>>) =>
  Object.entries(projects).map(([project, more]) => ({ ...NONE, project, ...more }));
const lease = { project: 'p1', parallelIndex: 0, needMs: 1_000 };
const HOUR = 3_000_000;

test('keeps a browser for an hour when a test is to come for it, and ends it at once when none is', async ({
  broker,
}) => {
  const { clock, connect, recorder, registry, service, until } = broker;
  registry.remaining(told({ p1: { waiting: 3, groups: 2, running: [runs(0, false)] } }));
  const first = await connect();
  const { sessionId } = await until(first.lease(lease));
  await until(first.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
  await clock.advance(HOUR);
  const second = await connect();
  const again = await until(second.lease({ ...lease, parallelIndex: 1 }));
  expect(again).toMatchObject({ sessionId, reused: true });
  registry.remaining(told({ p1: { running: [runs(1, false)] } }));
  await until(second.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
  // The last test's end may be told before its worker lets go, or after.
  registry.remaining(told({ p1: {} }));
  await clock.advance(service.latency);
  expect(recorder.sessions).toMatchObject([{ endReason: 'idle' }]);
});

test('keeps none for tests that belong to a worker which has its browser', async ({ broker }) => {
  const { connect, recorder, registry, until } = broker;
  const [a, b] = [await connect(), await connect()];
  const one = await until(a.lease(lease));
  const other = await until(b.lease({ ...lease, parallelIndex: 1 }));
  registry.remaining(told({ p1: { waiting: 9, running: [runs(0, true)] } }));
  await until(b.giveBack({ sessionId: other.sessionId, condition: 'healthy', toBeReplaced: false }));
  const reasons = Object.fromEntries(recorder.sessions.map((each) => [each.sessionId, each.endReason]));
  expect(reasons).toEqual({ [one.sessionId]: null, [other.sessionId]: 'idle' });
});

test('keeps a browser for 30 s when it is not known which tests are to come', async ({ broker }) => {
  const { clock, connect, recorder, registry, until } = broker;
  // The reporter has told it, and is gone.
  registry.remaining(told({ p1: { waiting: 1, groups: 1 } }));
  registry.remaining(null);
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

  test('gives way to another plan whose worker waits for a place', async ({ broker }) => {
    const { connect, registry, until } = broker;
    registry.remaining(told({ p1: { waiting: 1, groups: 1 }, p2: { waiting: 1, groups: 1 } }));
    const [a, b] = [await connect(), await connect()];
    const { sessionId } = await until(a.lease(lease));
    await until(a.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false }));
    const other = await until(b.lease({ ...lease, project: 'p2', parallelIndex: 1 }));
    expect(other.sessionId).not.toBe(sessionId);
  });
});

test("asks for no browser ahead of a test that does not come, with `reuse: 'test'`", async ({ broker }) => {
  const { clock, connect, registry, service, until } = broker;
  const own = { project: 'p0', parallelIndex: 0, needMs: 1_000 };
  registry.remaining(told({ p0: { waiting: 1, asks: 2, running: [runs(0, true, 'a')] } }));
  const line = await connect();
  await until(line.lease(own));
  // The next one of two is fetched …
  await until(line.lease({ ...own, ahead: true, during: 'a' }));
  // … and when that one runs, none: also before it is told that it has begun.
  const ahead = line.lease({ ...own, ahead: true, during: 'b' }).catch(() => null);
  await clock.advance(60_000);
  registry.remaining(told({ p0: { asks: 2, running: [runs(0, false, 'b')] } }));
  await clock.advance(60_000);
  expect(service.asks).toBe(2);
  await until(line.cancelAhead());
  await ahead;
});
