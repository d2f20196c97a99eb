import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Looks names up; `localhost` and what is below it is this machine (RFC 6761), whatever a name server says. */
export const localhostHere: LookupFunction = (hostname, options, callback) => {
  if (hostname !== 'localhost' && !hostname.endsWith('.localhost')) return lookup(hostname, options, callback);
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  if (options.all) callback(null, both);
  else callback(null, '127.0.0.1', 4);
};
