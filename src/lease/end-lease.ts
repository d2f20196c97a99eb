import { ServiceError } from '../errors.ts';
import type { ServiceClient } from '../service/index.ts';
import type { Lease } from './lease.ts';

/** What is known of a browser after it was given back. */
export interface EndedLease {
  /** Whether the service confirmed that it ended. */
  confirmed: boolean;
  /** The service's own figure for the session, in bytes; null while it has none. */
  bandwidthBytes: number | null;
  /** Why it is not confirmed. */
  failure?: unknown;
}

const ROUNDS = 3;

/**
 * Releases a leased browser or stops a created session, and asks for its final figure. Repeats a failed call for a few
 * rounds on top of the client's own retries; both calls are idempotent at the service (sections 3.3, 4.8).
 * Never throws: what could not be confirmed is said in the result, and the caller keeps it on its books.
 */
export async function endLease(client: ServiceClient, lease: Lease): Promise<EndedLease> {
  let failure: unknown;
  for (let round = 0; round < ROUNDS; round += 1) {
    try {
      await giveBack(client, lease);
      return { confirmed: true, bandwidthBytes: await finalBandwidth(client, lease.sessionId) };
    } catch (error) {
      failure = error;
      if (error instanceof ServiceError && !error.retryable && error.status !== 0) break;
    }
  }
  return { confirmed: false, bandwidthBytes: null, failure };
}

async function giveBack(client: ServiceClient, lease: Lease): Promise<void> {
  try {
    if (lease.leaseId !== null && lease.poolId !== null) await client.release(lease.poolId, lease.leaseId);
    else await client.stopSession(lease.sessionId);
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
    // A lease the pool has forgotten (expired, pool deleted) may still have a running session; one the service
    // never heard of has nothing running.
    if (lease.leaseId !== null) await stopQuietly(client, lease.sessionId);
  }
}

async function stopQuietly(client: ServiceClient, sessionId: string): Promise<void> {
  try {
    await client.stopSession(sessionId);
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  }
}

async function finalBandwidth(client: ServiceClient, sessionId: string): Promise<number | null> {
  try {
    return (await client.getSession(sessionId)).bandwidthBytes ?? null;
  } catch {
    // A figure for the record only: the browser has ended, and that is what counts.
    return null;
  }
}
