import type { SocketTraffic } from '../../../cdp/transport/open-socket.ts';
import { clearInterval, setInterval } from '../../../common/clock.ts';

/** How often the connection is checked for traffic, in ms. */
const TICK_MS = 250;

/**
 * Waits for the response to a request. Resolves with `silent` when the connection shows no traffic for `silence` ms.
 * Received bytes count as traffic, and so does a shrinking send queue. Time in which this process is blocked (a
 * synchronous command in a test, a sleeping machine) does not count: a response may have arrived unread.
 */
export async function waitForResponse(
  request: Promise<unknown>,
  traffic: () => SocketTraffic,
  silence: number,
): Promise<'responded' | 'failed' | 'silent'> {
  let before = traffic();
  let silentMs = 0;
  let ticks: NodeJS.Timeout | undefined;
  const silent = new Promise<'silent'>((resolve) => {
    ticks = setInterval(() => {
      const now = traffic();
      const moves = now.received > before.received || now.queued < before.queued;
      before = now;
      silentMs = moves ? 0 : silentMs + TICK_MS;
      if (silentMs >= silence) resolve('silent');
    }, TICK_MS);
  });
  const outcome = request.then(
    () => 'responded' as const,
    () => 'failed' as const,
  );
  try {
    return await Promise.race([outcome, silent]);
  } finally {
    clearInterval(ticks);
  }
}
