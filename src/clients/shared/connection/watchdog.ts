import type { SocketTraffic } from '../../../cdp/transport/open-socket.ts';
import { clearTimeout, setTimeout } from '../../../common/clock.ts';
import { waitForResponse } from './liveness.ts';

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
