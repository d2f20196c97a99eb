import type { BridgedHosts } from '../bridged-hosts.ts';
import type { BridgedSession } from '../bridged-sessions.ts';
import type { PausedRequest } from '../requests/paused-request.ts';

/** What pages reach through this machine, and on whose word. */
export interface Reach {
  /** The hosts that pages of a browser context may reach; what they may be asked for is {@link allows}' to say. */
  hostsOf(contextId: string): BridgedHosts;
  /** Whether a stopped request to one of these hosts is carried. Never rejects. */
  allows(paused: PausedRequest, session: BridgedSession): boolean | Promise<boolean>;
}

/** Hosts that the options list: every page reaches them. */
export function listedReach(hosts: BridgedHosts): Reach {
  return { hostsOf: () => hosts, allows: () => true };
}
