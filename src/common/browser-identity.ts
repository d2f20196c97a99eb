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

/** The identity alone, of whatever else is known of a browser. */
export function identityOf({ sessionId, leaseId, poolId, servedBy }: BrowserIdentity): BrowserIdentity {
  return { sessionId, leaseId, poolId, servedBy };
}
