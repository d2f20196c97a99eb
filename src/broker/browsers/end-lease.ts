import type { BrowserIdentity } from '../../common/browser-identity.ts';
import { type Clock, systemClock } from '../../common/clock.ts';
import { pause } from '../../common/pause.ts';
import { PoolwrightError, ServiceError } from '../../errors.ts';
import type { ProviderOptions } from '../../providers/provided-sessions.ts';
import type { BrowserService } from './browser-service.ts';

/** The browser to end and how it was acquired. Its server does not matter at the end. */
export type Endable = Omit<BrowserIdentity, 'servedBy'>;

/** Ends one browser; retry until it is confirmed. */
class LeaseEnd {
  /** Whether releasing is over: there is no lease, the pool has forgotten it, or the pool refuses to take it back. */
  #released: boolean;

  readonly #client: Pick<BrowserService, 'release' | 'stopSession'>;
  readonly #browser: Endable;

  constructor(client: Pick<BrowserService, 'release' | 'stopSession'>, browser: Endable) {
    this.#client = client;
    this.#browser = browser;

    this.#released = browser.leaseId === null || browser.poolId === null;
  }

  /**
   * Releases a leased browser or stops a created session, with the client's own retries; the service handles both calls
   * idempotently (sections 3.3, 4.8). A session that the service no longer knows has ended. A lease that the pool has
   * forgotten (expired, pool deleted) or refuses to take back may still have a running session: this session is
   * stopped.
   * @throws ServiceError, ABORTED: its end is not confirmed
   */
  async confirm(options: ProviderOptions = {}): Promise<void> {
    const { poolId, leaseId, sessionId } = this.#browser;
    if (!this.#released && poolId !== null && leaseId !== null) {
      try {
        await this.#client.release(poolId, leaseId, options);
        return;
      } catch (error) {
        if (!(error instanceof ServiceError) || !REFUSALS.has(error.status)) throw error;
        this.#released = true;
      }
    }
    try {
      await this.#client.stopSession(sessionId, options);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    }
  }
}

/** The same release gets the same response again. 401 is not listed: without a valid key, a stop is refused too. */
const REFUSALS = new Set([400, 403, 404, 409]);

/** Ends a browser that a dead run left, with one attempt: the next sweep repeats it. */
export async function endLease(client: BrowserService, browser: Endable, options: ProviderOptions = {}): Promise<void> {
  await new LeaseEnd(client, browser).confirm(options);
}

/** Delay between two attempts to end a browser, in ms; grows from `first` to `most`. */
const RETRY_MS = { first: 1_000, most: 15_000 } as const;

/** What {@link untilEnded} needs. */
export interface Ending extends Pick<ProviderOptions, 'reason'> {
  client: Pick<BrowserService, 'release' | 'stopSession'>;
  browser: Endable;
  /** Fires when the caller stops waiting for the confirmation. */
  signal: AbortSignal;
  /** Called before each further attempt. */
  onRetry?(why: unknown): void;
  /** Default: the machine's. */
  clock?: Clock;
}

/**
 * Ends one browser: repeats until its end is confirmed. This is the only place that does so for a browser that this
 * process has acquired.
 * @returns null once confirmed; else the reason why not: the call was refused for good, or the signal has fired
 */
export async function untilEnded({ client, browser, signal, reason, onRetry, clock }: Ending): Promise<unknown> {
  const end = new LeaseEnd(client, browser);
  let last: unknown;
  for (let wait: number = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
    try {
      await end.confirm({ signal, reason });
      return null;
    } catch (error) {
      last = isAborted(error) ? (last ?? error) : error;
      if (signal.aborted || isPermanent(error)) return last;
      onRetry?.(error);
    }
    try {
      await pause(wait, signal, clock ?? systemClock);
    } catch {
      return last;
    }
  }
}

/** The service understood the call and refused it: it will refuse the same call again. */
function isPermanent(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500 && !error.retryable;
}

function isAborted(error: unknown): boolean {
  return error instanceof PoolwrightError && error.code === 'ABORTED';
}

/** Returns the session's final bandwidth in bytes (section 2.1); null if the service does not report it. */
export async function finalBandwidth(client: BrowserService, sessionId: string): Promise<number | null> {
  try {
    return (await client.getSession(sessionId)).bandwidthBytes ?? null;
  } catch {
    // Only for the record: what matters is that the browser has ended.
    return null;
  }
}
