import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import { type BrowserIdentity, identityOf } from '../../common/browser-identity.ts';

/** The session whose browser the test uses. */
export interface HostedSession extends BrowserIdentity {
  /** When this run got it, ISO 8601. */
  startedAt: string;
  /** When the service will end it, ISO 8601. */
  expiresAt: string;
  /** Whether another worker of this run used it before. */
  reused: boolean;
}

/** Returns the public facts about a leased browser. */
export function hostedSessionOf(lease: LeasedBrowser): HostedSession {
  const { startedAt, expiresAt, reused } = lease;
  return { ...identityOf(lease), startedAt, expiresAt, reused };
}
