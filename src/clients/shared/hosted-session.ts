import type { LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import { type BrowserIdentity, identityOf } from '../../common/browser-identity.ts';

/** The session whose browser the test uses. */
export interface HostedSession extends BrowserIdentity {
  /** When this run got it, ISO 8601. */
  startedAt: string;
  /** When the service will end it, ISO 8601. */
  expiresAt: string;
  /** Whether another worker of this run used it before. */
  reused: boolean;
  /**
   * Waits until a person has done something in the page by hand, such as entering a code. `npx poolwright watch` shows
   * the page, takes mouse and keyboard, and has the button that releases the test. Resolves then, at the latest after
   * 10 minutes and shortly before {@link expiresAt}. With Playwright Test and Mocha, the test's timeout waits, too.
   * @param reason what the person should do
   * @throws OptionsError without a reason, and in CI while nobody watches
   */
  hold(reason: string): Promise<void>;
}

/** Returns the public facts about a leased browser. @param hold see {@link HostedSession.hold} */
export function hostedSessionOf(lease: LeasedBrowser, hold: HostedSession['hold']): HostedSession {
  const { startedAt, expiresAt, reused } = lease;
  return { ...identityOf(lease), startedAt, expiresAt, reused, hold };
}
