import type { BrowserIdentity } from '../common/browser-identity.ts';
import { ServiceError } from '../errors.ts';
import type { CallOptions } from '../service/index.ts';
import type { BrowserService } from './browser-service.ts';

/** Which browser, and how it was got: who serves it does not matter at its end. */
export type Endable = Omit<BrowserIdentity, 'servedBy'>;

/** Ends one browser; may be tried until it is confirmed. */
export class LeaseEnd {
  /** Whether releasing is over: there is no lease, the pool has forgotten it, or it will not take it back. */
  #released: boolean;

  readonly #client: BrowserService;
  readonly #browser: Endable;

  constructor(client: BrowserService, browser: Endable) {
    this.#client = client;
    this.#browser = browser;

    this.#released = browser.leaseId === null || browser.poolId === null;
  }

  /**
   * Releases a leased browser or stops a created session, with the client's own retries; both calls are idempotent at
   * the service (sections 3.3, 4.8). One that the service no longer knows has ended. A lease that the pool has forgotten
   * (expired, pool deleted) or refuses to take back may still have a running session: that one is stopped.
   * @throws ServiceError, ABORTED: its end is not confirmed
   */
  async confirm(options: CallOptions = {}): Promise<void> {
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

/** The same release is answered the same way again; without a key that is valid (401), a stop would be refused, too. */
const REFUSALS = new Set([400, 403, 404, 409]);

/** {@link LeaseEnd}, tried once. */
export async function endLease(client: BrowserService, browser: Endable, options: CallOptions = {}): Promise<void> {
  await new LeaseEnd(client, browser).confirm(options);
}

/** The session's final figure in bytes (section 2.1); null where the service has none. */
export async function finalBandwidth(client: BrowserService, sessionId: string): Promise<number | null> {
  try {
    return (await client.getSession(sessionId)).bandwidthBytes ?? null;
  } catch {
    // For the record only: the browser has ended, and that is what counts.
    return null;
  }
}
