import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** How a host's addresses are found and tried. */
interface Addresses {
  lookup: LookupFunction;
  /** Time limit for trying one of several addresses, in ms. */
  autoSelectFamilyAttemptTimeout?: number;
}

/**
 * How a host's addresses are found and tried. `localhost` and its subdomains are this machine (RFC 6761), whatever a
 * name server says. Local addresses accept or refuse at once. Node's own limit, 250 ms, can expire while this process
 * is busy: Node then gives up the address that the server listens on, and tries one that refuses.
 * @param isHere whether the host is {@link isLocalhost}
 * @param timeout time limit for connecting, in ms
 */
export function addressesOf(isHere: boolean, timeout: number): Addresses {
  return isHere ? { lookup: bothHere, autoSelectFamilyAttemptTimeout: timeout } : { lookup };
}

export function isLocalhost(hostname: string): boolean {
  return /(^|\.)localhost\.?$/.test(hostname);
}

const bothHere: LookupFunction = (_hostname, { all }, callback) => {
  // In the order in which Chromium tries them.
  const both = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  if (all) callback(null, both);
  else callback(null, '127.0.0.1', 4);
};
