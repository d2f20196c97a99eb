import type { BrowserIdentity } from '../../common/browser-identity.ts';
import { ServiceError } from '../../errors.ts';
import type { ProviderOptions } from '../../providers/provided-sessions.ts';
import type { BrowserService } from './browser-service.ts';

/** The browser to end and how it was acquired. Its server does not matter at the end. */
export type Endable = Omit<BrowserIdentity, 'servedBy'>;

/** Ends one browser; retry until it is confirmed. */
export class LeaseEnd {
  /** Whether releasing is over: there is no lease, the pool has forgotten it, or the pool refuses to take it back. */
  #released: boolean;

  readonly #client: BrowserService;
  readonly #browser: Endable;

  constructor(client: BrowserService, browser: Endable) {
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

/** Ends a browser with one attempt; see {@link LeaseEnd}. */
export async function endLease(client: BrowserService, browser: Endable, options: ProviderOptions = {}): Promise<void> {
  await new LeaseEnd(client, browser).confirm(options);
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
