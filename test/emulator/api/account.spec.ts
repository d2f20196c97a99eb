import { ServiceClient } from '../../../src/service/index.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { ManualClock } from '../../support/emulator/manual-clock.ts';

test('creates and acquires fail with 402 when the balance is used up', async ({ start }) => {
  const clock = new ManualClock();
  const emulator = await start({ browser: 'stub', balanceCents: 15, concurrentBrowsers: 3 }, clock);
  const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
  expect(await client.getBalance()).toEqual({ balance_cents: 15 });
  const billing = await client.getBilling();
  expect(billing).toMatchObject({
    plan: { concurrent_browsers: 3 },
    usage: { browser_time_ms: 0, cost_millicents: 0 },
  });

  const pool = await client.createPool({ name: 'p', size: 1 });
  const { sessionId } = await client.createSession({ duration: 3600 });
  clock.advance(30 * 60_000);
  expect((await client.getBalance()).balance_cents).toBe(10); // half an hour of one browser
  await client.stopSession(sessionId);
  const { bandwidthBytes } = await client.getSession(sessionId);
  const spent = 5_000 + ((bandwidthBytes ?? 0) / 1_000_000) * 500;
  expect(await client.getBilling()).toMatchObject({
    usage: { browser_time_ms: 30 * 60_000, cost_millicents: Math.round(spent) },
  });

  const other = await client.createSession({ duration: 3600 });
  clock.advance(60 * 60_000 - 1);
  expect((await client.getBalance()).balance_cents).toBeLessThanOrEqual(0);
  for (const refused of [client.createSession(), client.acquire(pool.id)]) {
    await expect(refused).rejects.toMatchObject({ status: 402, serviceMessage: 'Insufficient balance' });
  }
  // Running sessions continue, and can be stopped.
  await client.stopSession(other.sessionId);
  await client.close();
});
