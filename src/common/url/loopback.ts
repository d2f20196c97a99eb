import { BlockList, isIP } from 'node:net';

/** All addresses that reach this machine. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addSubnet('0.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

/** Whether an IP address (also an IPv4 one written as IPv6) is this machine's loopback. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  // BlockList judges `::ffff:127.0.0.1` by its IPv4 rules.
  return loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a host of a URL (brackets allowed) is loopback by its name alone, without looking it up. */
export function isLoopbackHost(host: string): boolean {
  const name = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}
