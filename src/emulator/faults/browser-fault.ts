import type { CdpRelay } from '../cdp-relay.ts';
import type { BrowserSession } from '../state/browser-session.ts';
import type { BrowserFault } from './fault-rule.ts';

type Act = (session: BrowserSession, relay: CdpRelay) => void;

const ACTS: Record<BrowserFault, Act> = {
  crashBrowser: (session) => session.browser?.crash(),
  stallBrowser: (session) => session.browser?.stall(),
  cutLink: (session, relay) => relay.cut(session),
  endSession: (session) => void session.stop(),
};

/** Lets a fault befall a session's browser. An ended session has none: nothing happens. */
export function befall(session: BrowserSession, fault: BrowserFault, relay: CdpRelay): void {
  ACTS[fault](session, relay);
}
