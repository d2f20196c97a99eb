import { ServiceError } from '../errors.ts';
import type { CallOptions, ServiceClient } from '../service/index.ts';
import type { Lease } from './lease.ts';

/** Which browser, and how it was got. */
export type Endable = Pick<Lease, 'sessionId' | 'leaseId' | 'poolId'>;

/**
 * Releases a leased browser or stops a created session, with the client's own retries; both calls are idempotent at
 * the service (sections 3.3, 4.8). One that the service no longer knows has ended.
 * @throws ServiceError, ABORTED: its end is not confirmed
 */
export async function endLease(client: ServiceClient, lease: Endable, options: CallOptions = {}): Promise<void> {
  if (lease.leaseId === null || lease.poolId === null) {
    await unlessUnknown(client.stopSession(lease.sessionId, options));
    return;
  }
  const known = await unlessUnknown(client.release(lease.poolId, lease.leaseId, options));
  // A lease the pool has forgotten (expired, pool deleted) may still have a running session.
  if (!known) await unlessUnknown(client.stopSession(lease.sessionId, options));
}

/** The session's final figure in bytes (section 2.1); null where the service has none. */
export async function finalBandwidth(client: ServiceClient, sessionId: string): Promise<number | null> {
  try {
    return (await client.getSession(sessionId)).bandwidthBytes ?? null;
  } catch {
    // For the record only: the browser has ended, and that is what counts.
    return null;
  }
}

/** False when the service does not know it. */
async function unlessUnknown(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return false;
    throw error;
  }
}
