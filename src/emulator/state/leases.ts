import { randomUUID } from 'node:crypto';
import type { Clock } from '../../common/clock.ts';
import { ApiError } from '../api-error.ts';
import type { BrowserSession } from './browser-session.ts';

export interface Lease {
  readonly leaseId: string;
  readonly session: BrowserSession;
}

/** The leases of one pool. A lease is active while its session lives; when it expires, the session is stopped. */
export class Leases {
  readonly #clock: Clock;
  readonly #leases = new Map<string, Lease>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get active(): Lease[] {
    return [...this.#leases.values()].filter(({ session }) => session.isLive);
  }

  add(session: BrowserSession, timeoutMs: number): Lease {
    const lease = { leaseId: `lease_${randomUUID().replaceAll('-', '')}`, session };
    this.#leases.set(lease.leaseId, lease);
    const expiry = this.#clock.after(timeoutMs, () => void session.stop()).unref();
    session.onEnd(expiry.cancel);
    return lease;
  }

  /** @throws ApiError 404 */
  get(leaseId: string): Lease {
    const lease = this.#leases.get(leaseId);
    if (!lease) throw new ApiError(404, 'Pool lease not found');
    return lease;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.active.map(({ session }) => session.stop()));
  }
}
