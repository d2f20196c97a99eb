import type { BridgedHosts } from '../bridged-hosts.ts';
import type { BridgedSession } from '../bridged-sessions.ts';
import type { PausedRequest } from '../requests/paused-request.ts';

/** What pages reach through this machine, and on whose word. */
export interface Reach {
  /** The hosts that pages of a browser context may reach; what they may be asked for is {@link allows}' to say. */
  hostsOf(contextId: string): BridgedHosts;
  /**
   * Whether a stopped request is carried to one of these hosts. Never rejects.
   * @param url where it goes: the test may have it go elsewhere than the page
   */
  allows(paused: PausedRequest, session: BridgedSession, url: string): boolean | Promise<boolean>;
  /** Called when the test itself answers a stopped request with a redirect. */
  noteRedirected?(paused: PausedRequest, session: BridgedSession, location: string): void;
  /** Called when the answer to a carried request is a redirect, before the browser has it. */
  noteCarriedRedirect?(paused: PausedRequest, location: string): void;
}

/** Hosts that the options list: every page reaches them. */
export function listedReach(hosts: BridgedHosts): Reach {
  return { hostsOf: () => hosts, allows: () => true };
}
