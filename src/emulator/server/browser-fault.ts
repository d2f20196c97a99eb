import type { BrokenBrowserFault, BrowserFault } from '../fault-rule.ts';
import type { BrowserSession } from '../state/browser-session.ts';

/** What holds the sessions' CDP links. */
export interface LinkCutter {
  /** Breaks the links of a session that are open now, without a close frame. */
  cut(session: BrowserSession): void;
  /** Spoils what a session's browser does, on all links. */
  spoil(session: BrowserSession, fault: BrokenBrowserFault): void;
}

type Act = (session: BrowserSession, links: LinkCutter) => void;

const ACTS: Record<BrowserFault, Act> = {
  crashBrowser: (session) => session.browser?.crash(),
  stallBrowser: (session) => session.browser?.stall(),
  cutLink: (session, links) => links.cut(session),
  endSession: (session) => void session.stop(),
  refuseContexts: (session, links) => links.spoil(session, 'refuseContexts'),
  refusePages: (session, links) => links.spoil(session, 'refusePages'),
  foreignTarget: (session, links) => links.spoil(session, 'foreignTarget'),
};

/** Applies a fault to a session's browser. An ended session has none: nothing happens. */
export function applyFault(session: BrowserSession, fault: BrowserFault, links: LinkCutter): void {
  ACTS[fault](session, links);
}

/** Applies the fault now or, with `ms`, later; a late failure is only logged. */
export function applyFaultAfter(ms: number, act: () => void, log: (line: string) => void): void {
  if (ms === 0) {
    act();
    return;
  }
  const later = () => {
    try {
      act();
    } catch (error) {
      log(`fault: ${(error as Error).message}`);
    }
  };
  setTimeout(later, ms).unref();
}
