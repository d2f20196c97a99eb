import { expect } from '@playwright/test';
import { LeaseError } from '../../../../src/errors.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';
import { failureOf } from '../../../support/unit/http-service.ts';

/** Prefetches over a real socket, with a scripted service behind the broker. */

const params = { project: 'p0', parallelIndex: 0, needMs: 1_000 };

test.describe('at a limit of one browser', () => {
  test.use({ limit: 1 });

  test('a prefetch waits behind a worker that needs a browser, is cancelled, and does not count as a failure', async ({
    broker,
  }) => {
    const { service, leases, recorder, connect, until } = broker;
    const [a, b] = [await connect(), await connect()];
    const first = await until(a.lease(params));
    const prefetch = failureOf(a.lease({ ...params, prefetch: true }), LeaseError);
    await expect.poll(() => leases.state().waiting + service.asks).toBe(1);
    const other = b.lease({ ...params, parallelIndex: 1 });
    await expect.poll(() => leases.state().waiting).toBe(1);
    await until(a.giveBack({ sessionId: first.sessionId, condition: 'healthy', toBeReplaced: false }));
    const second = await until(other);
    expect(second.sessionId).not.toBe(first.sessionId);
    await until(a.cancelPrefetch());
    expect(await prefetch).toMatchObject({ code: 'ABORTED' });
    expect(recorder.leaseFailures).toEqual([]);
  });
});

test('a cancelled prefetch passes its pending browser to the next request', async ({ broker }) => {
  const { service, connect, until } = broker;
  service.latency = 500;
  const line = await connect();
  const prefetch = failureOf(line.lease({ ...params, prefetch: true }), LeaseError);
  await expect.poll(() => service.asks).toBe(1);
  const now = line.lease(params);
  await until(line.cancelPrefetch());
  expect(await prefetch).toMatchObject({ code: 'ABORTED' });
  expect((await until(now)).reused).toBe(false);
  await broker.clock.advance(35_000);
  expect(service.running).toHaveLength(1);
});

test('a prefetch whose response crosses the cancellation is given back unused, and is as good as new', async ({
  broker,
}) => {
  const { leases, recorder, service, connect, until } = broker;
  const [a, b] = [await connect(), await connect()];
  const lease = leases.lease.bind(leases);
  let cancelled: Promise<void> | null = null;
  // The worker cancels its request after the broker has leased the browser, and before it has read the response.
  leases.lease = async (...asked) => {
    const leased = await lease(...asked);
    cancelled ??= a.cancelPrefetch();
    return leased;
  };
  const failure = await until(failureOf(a.lease({ ...params, prefetch: true }), LeaseError));
  await until(Promise.resolve(cancelled));
  expect(failure).toMatchObject({ code: 'ABORTED' });
  expect(service.asks).toBe(1);
  const taken = await until(b.lease({ ...params, parallelIndex: 1 }));
  expect(taken.reused).toBe(false);
  expect(recorder.sessions).toHaveLength(1);
  expect(recorder.sessions[0]).toMatchObject({ workersServed: 1, sessionId: taken.sessionId });
});
