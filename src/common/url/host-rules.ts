import { readFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { isLoopbackAddress } from './loopback.ts';

/** Hosts as they are written in a URL, as globs and as regular expressions. */
export interface HostForms {
  /** They may match more than the expressions, never less. */
  globs: string[];
  expressions: string[];
}

/** A hosts file may list thousands of names that it blocks. */
const MAX_NAMES = 100;
const GLOBS = ['*localhost', '*localhost.', '127.*', '0.0.0.0', '[::*]'];
const EXPRESSIONS = [
  '(?:.*\\.)?localhost\\.?',
  '127(?:\\.\\d+){3}',
  '0\\.0\\.0\\.0',
  '\\[::1?\\]',
  // An IPv4 address written as an IPv6 one.
  '\\[::ffff:7f[\\da-f]{2}:[\\da-f]+\\]',
];

let found: HostForms | undefined;

/** All hosts that reach this machine from itself, by their names alone: no name server is asked. */
export function loopbackHosts(): HostForms {
  found ??= withNames(ownNames(hostsFile(), hostname(), ownAddresses()));
  return found;
}

function withNames(names: string[]): HostForms {
  return {
    globs: [...GLOBS, ...names],
    expressions: [...EXPRESSIONS, ...names.map((name) => name.replaceAll('.', '\\.'))],
  };
}

/**
 * The names of this machine: its host name, and the names in its hosts file that stand for this machine. Names that
 * only a name server knows do not count: any page can use a name that its owner resolves to 127.0.0.1.
 * @param hosts content of the hosts file
 * @param addresses of this machine's network interfaces
 */
export function ownNames(hosts: string, host: string, addresses: ReadonlySet<string>): string[] {
  const names = hosts.split('\n').flatMap((line) => {
    const [address = '', ...rest] = line.replace(/#.*/, '').trim().split(/\s+/);
    // Block lists map names to 0.0.0.0.
    const isOwn = addresses.has(address) || (isLoopbackAddress(address) && !/^(0\.|::$)/.test(address));
    return isOwn ? rest : [];
  });
  const valid = [host, ...names]
    .map((name) => name.toLowerCase())
    .filter((name) => /^[a-z\d_.-]*[a-z][a-z\d_-]*$/.test(name));
  return [...new Set(valid)].filter((name) => !/(^|\.)localhost$/.test(name)).slice(0, MAX_NAMES);
}

function hostsFile(): string {
  const { SystemRoot } = process.env;
  try {
    return readFileSync(
      SystemRoot === undefined ? '/etc/hosts' : join(SystemRoot, 'System32/drivers/etc/hosts'),
      'utf8',
    );
  } catch {
    return '';
  }
}

function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)));
}

/** URL globs for CDP's `Fetch.enable`: addresses on a host, given as a glob. @param port null: every port */
export function urlPatternsOf(host: string, port: number | null): string[] {
  // A user name and password may precede it.
  if (port === null) return [`*://${host}/*`, `*://${host}:*`, `*://*@${host}/*`, `*://*@${host}:*`];
  // A URL does not name its scheme's own port.
  const own = port === 80 || port === 443 ? [`*://${host}/*`, `*://*@${host}/*`] : [];
  return [`*://${host}:${port}/*`, `*://*@${host}:${port}/*`, ...own];
}

/** The ports that a browser never connects to for a page (Fetch standard, "bad port"). */
const BLOCKED = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
]);

/** Whether a browser refuses to connect to an address because of its port (`net::ERR_UNSAFE_PORT`). */
export function isBlockedPort({ port }: Pick<URL, 'port'>): boolean {
  return port !== '' && BLOCKED.has(Number(port));
}
