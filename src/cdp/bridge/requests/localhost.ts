import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** How the addresses of a host are found and tried. */
interface Addresses {
  lookup: LookupFunction;
  /** Bound on trying one of several, in ms. */
  autoSelectFamilyAttemptTimeout?: number;
}

/**
 * How the addresses of a host are found and tried: `localhost` and what is below it is this machine (RFC 6761), whatever
 * a name server says. There an address answers or refuses at once. Node's own bound, 250 ms, passes while this process is
 * busy with something else: the address where the server listens is given up for one that refuses.
 * @param timeout bound on connecting, in ms
 */
export function addressesOf(hostname: string, timeout: number): Addresses {
  return isHere(hostname) ? { lookup: bothHere, autoSelectFamilyAttemptTimeout: timeout } : { lookup };
}

function isHere(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

const bothHere: LookupFunction = (_hostname, { all }, callback) => {
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  if (all) callback(null, both);
  else callback(null, '127.0.0.1', 4);
};
