import { lookup as resolve } from 'node:dns/promises';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** Which browsers a relay may connect to. */
export interface AllowedHosts {
  /** Host names, each exact or `*.` and a domain. Never empty. */
  hosts: string[];
  /** Whether their addresses may be private: loopback, link-local, or of a local network. */
  allowPrivate: boolean;
}

/** Addresses that are not public: RFC 6890 and its successors. */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}
/** The only public IPv6 addresses, without those that contain an IPv4 address or are for documentation. */
const PUBLIC_V6 = new BlockList();
PUBLIC_V6.addSubnet('2000::', 3, 'ipv6');
const SPECIAL_V6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  SPECIAL_V6.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address is not reachable from everywhere. */
export function isPrivate(address: string): boolean {
  if (!isIPv6(address)) return PRIVATE.check(address);
  return !PUBLIC_V6.check(address, 'ipv6') || SPECIAL_V6.check(address, 'ipv6');
}

/** Why a relay must not connect to an address. Names no more than the host. */
export class HostRefused extends Error {}

/**
 * Checks the address of a browser, its host name first, and then what DNS returns for it. The returned function makes
 * the connection use the checked addresses: a second DNS response could differ.
 * @throws HostRefused
 */
export async function allowedLookup(
  cdpUrl: string,
  { hosts, allowPrivate }: AllowedHosts,
  dns: typeof resolve = resolve,
): Promise<LookupFunction> {
  const host = hostOf(cdpUrl);
  if (host === null) throw new HostRefused('the address of the browser is not a ws:// or wss:// URL');
  if (!hosts.some((rule) => matches(rule, host))) {
    throw new HostRefused(`it may not connect to ${host}. Start it with \`--allow ${host}\``);
  }
  const name = host.replace(/^\[|\]$/g, '');
  const addresses = await dns(name, { all: true }).catch(() => []);
  if (addresses.length === 0) throw new HostRefused(`it cannot resolve ${host}`);
  if (!allowPrivate && addresses.some(({ address }) => isPrivate(address))) {
    throw new HostRefused(`${host} has a private address. Start it with \`--allow-private\` if that is intended`);
  }
  const [first] = addresses;
  return (_host, options, done) => {
    if (typeof options === 'object' && options.all) done(null, addresses);
    else done(null, first?.address ?? '', first?.family ?? 4);
  };
}

/** Whether a connection to this host needs no DNS. Node then ignores `lookup`, but the address was checked. */
function hostOf(cdpUrl: string): string | null {
  if (!URL.canParse(cdpUrl)) return null;
  const { protocol, hostname } = new URL(cdpUrl);
  return protocol === 'ws:' || protocol === 'wss:' ? hostname : null;
}

function matches(rule: string, host: string): boolean {
  const wanted = rule.toLowerCase();
  if (!wanted.startsWith('*.')) return wanted === host;
  return isIP(host) === 0 && host.endsWith(wanted.slice(1));
}
