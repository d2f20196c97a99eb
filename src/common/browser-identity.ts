/** Whose browser it is, in the service's own terms. */
export interface BrowserIdentity {
  /** ID of its session at the service. */
  readonly sessionId: string;
  /** Null for a session that was created, not leased from a pool. */
  readonly leaseId: string | null;
  /** ID of its pool; null for a session that was created. */
  readonly poolId: string | null;
  /** Node that serves it, if the service reports it. */
  readonly servedBy: string | null;
}

/** Only the identity, without other fields. */
export function identityOf({ sessionId, leaseId, poolId, servedBy }: BrowserIdentity): BrowserIdentity {
  return { sessionId, leaseId, poolId, servedBy };
}
