import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isLoopbackHost } from '../common/url/loopback.ts';

/** Whether a host is loopback, which needs no name server. */
export function isStrictLoopback(host: string): boolean {
  return isLoopbackHost(host) && !isWildcard(host);
}

/** `0.0.0.0` and `::`: every address of this machine to listen on; not an address to connect to. */
export function isWildcard(host: string): boolean {
  return /^0\.|^\[?::\]?$/.test(host);
}

export type HostCheck = (header: string | undefined) => boolean;

/**
 * Against DNS rebinding: a web site can make its name resolve to this machine. The requests of its pages then have that
 * name in `Host`. Accepted are loopback and, with `allowRemote`, any IP address, the host that the emulator listens on,
 * and this machine's name.
 */
export function hostCheck({ host, allowRemote }: { host: string; allowRemote: boolean }): HostCheck {
  const names = new Set([host, hostname()].map((name) => name.toLowerCase()));
  return (header) => {
    const [, name] = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d+)?$/i.exec(header ?? '') ?? [];
    if (name === undefined) return false;
    if (isStrictLoopback(name)) return true;
    return allowRemote && (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || names.has(name.toLowerCase()));
  };
}

/** Response to a request for another host, with 403. */
export const HOST_REFUSED =
  'Forbidden: the Host header is not an address of this emulator; use the address printed at startup';
