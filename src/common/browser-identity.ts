import { z } from 'zod';

/** Whose browser it is, in the service's own terms. */
export interface BrowserIdentity {
  /** ID of its session at the service. */
  readonly sessionId: string;
  /** Null for a session that was created, not leased from a pool. */
  readonly leaseId: string | null;
  readonly poolId: string | null;
  /** Node that serves it, where the service says so. */
  readonly servedBy: string | null;
}

/** {@link BrowserIdentity} on the wire and in files: schemas take its `shape`, so that the fields keep their order. */
export const browserIdentity = z.object({
  sessionId: z.string(),
  leaseId: z.string().nullable(),
  poolId: z.string().nullable(),
  servedBy: z.string().nullable(),
}) satisfies z.ZodType<BrowserIdentity>;

/** The identity alone, in the order of {@link browserIdentity}, of whatever else is known of a browser. */
export function identityOf({ sessionId, leaseId, poolId, servedBy }: BrowserIdentity): BrowserIdentity {
  return { sessionId, leaseId, poolId, servedBy };
}
