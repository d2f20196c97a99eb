import type { LeasedBrowser } from '../broker/rpc/protocol.ts';
import { type BrowserIdentity, identityOf } from '../common/browser-identity.ts';

/** The session that serves a test. */
export interface HostedSession extends BrowserIdentity {
  /** ISO 8601: when this run got it. */
  startedAt: string;
  /** ISO 8601: when the service will end it. */
  expiresAt: string;
  /** Whether another worker of this run used it before. */
  reused: boolean;
}

/** What users may know of a leased browser. */
export function hostedSessionOf(lease: LeasedBrowser): HostedSession {
  const { startedAt, expiresAt, reused } = lease;
  return { ...identityOf(lease), startedAt, expiresAt, reused };
}
