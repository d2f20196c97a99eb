/** One browser that this run holds, however it was got. */
export interface Lease {
  readonly source: 'pool' | 'session';
  readonly sessionId: string;
  /** Null for a created session. */
  readonly leaseId: string | null;
  readonly poolId: string | null;
  readonly servedBy: string | null;
  /** A secret: who has it has the browser. */
  readonly cdpUrl: string;
  readonly startedAt: Date;
  /** When the service ends it: `duration` of a session, `leaseTimeoutSeconds` of a pool. Null when unknown. */
  readonly expiresAt: Date | null;
}
