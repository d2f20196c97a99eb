import type { SocketTraffic } from '../../../cdp/transport/open-socket.ts';
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../../../common/clock.ts';

/** How often the connection is checked for traffic, in ms. */
const TICK_MS = 250;

/** How often a browser is checked, in ms. */
const INTERVAL_MS = 5_000;
/** How long it may be silent during a check, in ms. A busy browser responds late, a dead one never. */
const SILENCE_MS = 15_000;
/**
 * The slowest supported uplink, in bytes per ms (half a Mbit/s). A request waits behind all data sent before it, which
 * may be a response of 18 MB for a page. How much of that has left the operating system's buffers cannot be observed.
 */
const SLOWEST_UPLINK = 62.5;

/** A connection to a browser. */
interface Watched {
  /** Sends the browser a request. */
  ping(): Promise<unknown>;
  traffic(): SocketTraffic;
  isConnected(): boolean;
}

/** Checks whether a browser responds. */
export interface Watchdog {
  /**
   * Whether the browser responds to a request. It may be silent for `ms`, plus the time that the data sent before takes
   * on a slow uplink.
   */
  isResponsive(ms: number, request: Promise<unknown>): Promise<boolean>;
  stop(): void;
}

/**
 * Watches a connected browser. A stopped process or a cut network closes no connection, and then every call waits
 * forever. Calls `onSilent` once, when a check gets no response for 15 s.
 */
export function watch({ ping, traffic, isConnected }: Watched, onSilent: (seconds: number) => void): Watchdog {
  /** How many of the sent bytes precede the last request that got a response. */
  let delivered = 0;
  const probe = async (ms: number, request: Promise<unknown>) => {
    const { sent } = traffic();
    const outcome = await waitForResponse(request, traffic, ms + Math.max(0, sent - delivered) / SLOWEST_UPLINK);
    if (outcome === 'responded') delivered = Math.max(delivered, sent);
    return outcome;
  };
  let timer: NodeJS.Timeout | null = setTimeout(check, INTERVAL_MS).unref();
  async function check() {
    const outcome = await probe(SILENCE_MS, ping());
    if (timer === null || !isConnected()) return;
    if (outcome === 'silent') onSilent(SILENCE_MS / 1000);
    else timer = setTimeout(check, INTERVAL_MS).unref();
  }
  return {
    isResponsive: async (ms, request) => (await probe(ms, request)) === 'responded',
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
}

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
