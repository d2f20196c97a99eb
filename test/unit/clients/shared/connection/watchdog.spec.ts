import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { waitForResponse, watch } from '../../../../../src/clients/shared/connection/watchdog.ts';

/** What counts as a response, on connections made of numbers. */

const never = new Promise<never>(() => undefined);
const still = () => ({ received: 0, sent: 0, queued: 0 });

test('distinguishes a response, an error and silence', async () => {
  expect(await waitForResponse(Promise.resolve(), still, 500)).toBe('responded');
  expect(await waitForResponse(Promise.reject(new Error('no')), still, 500)).toBe('failed');
  expect(await waitForResponse(never, still, 500)).toBe('silent');
});

for (const direction of ['received', 'queued'] as const) {
  test(`does not give up a connection with traffic (${direction}) until the traffic stops`, async () => {
    let looks = 0;
    const traffic = () => {
      looks += 1;
      const moved = Math.min(looks, 4) * 100;
      return { ...still(), [direction]: direction === 'received' ? moved : 1_000 - moved };
    };
    expect(await waitForResponse(never, traffic, 500)).toBe('silent');
    // Three checks with traffic, then two without.
    expect(looks).toBe(6);
  });
}

test('does not count sent bytes as a response', async () => {
  let sent = 0;
  const traffic = () => {
    sent += 100;
    return { received: 0, sent, queued: 0 };
  };
  expect(await waitForResponse(never, traffic, 500)).toBe('silent');
});

test('notices a response that arrived while this process was blocked', async () => {
  const answer = waitForResponse(promisify(randomBytes)(16), still, 500);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  expect(await answer).toBe('responded');
});

test('waits for data that was sent earlier, until a later request gets a response', async () => {
  let responds = true;
  let sent = 3_000_000;
  const connection = {
    ping: () => (responds ? Promise.resolve() : never),
    traffic: () => ({ received: 0, sent, queued: 0 }),
    isConnected: () => true,
  };
  const watchdog = watch(connection, () => undefined);
  expect(await watchdog.isResponsive(500, connection.ping())).toBe(true);
  responds = false;
  // Sending the first bytes takes 48 s of uplink. Waiting for them again would take as long.
  sent += 62_500;
  const asked = performance.now();
  expect(await watchdog.isResponsive(500, connection.ping())).toBe(false);
  expect(performance.now() - asked).toBeGreaterThan(1_400);
  watchdog.stop();
});
