import { isBlockedPort, loopbackHosts, urlPatternsOf } from '../../../common/url/host-rules.ts';
import { parsedUrl } from '../../../common/url/parsed-url.ts';

/** The hosts that pages reach through this machine. */
export interface ProxiedHosts {
  matches(url: string): boolean;
  /** The hosts as URL globs for CDP's `Fetch.enable`; they may match more addresses, never fewer. */
  readonly urlPatterns: readonly string[];
  /** The exact hosts, as regular expressions for `host:port`. */
  readonly hostExpressions: readonly string[];
}

const { globs, expressions } = loopbackHosts();
const isLoopback = new RegExp(`^(?:${expressions.join('|')})$`);

/** Every server of this machine, on every port that browsers connect to. */
export const LOOPBACK: ProxiedHosts = {
  matches: (url) => {
    const parsed = parsedUrl(url);
    if (!parsed || isBlockedPort(parsed)) return false;
    return /^(http|ws)s?:$/.test(parsed.protocol) && isLoopback.test(parsed.hostname);
  },
  urlPatterns: globs.flatMap((host) => urlPatternsOf(host, null)),
  hostExpressions: expressions.map((host) => `^${host}:\\d+$`),
};

/** The origin of an address, including `blob:` addresses; null if it is opaque, or the text is not an address. */
export function originOf(url: unknown): string | null {
  const origin = typeof url === 'string' ? parsedUrl(url)?.origin : undefined;
  return origin === undefined || origin === 'null' ? null : origin;
}

/** The origin of a server of this machine, for the address of a page, request or WebSocket; null for any other text. */
export function loopbackOrigin(url: unknown): string | null {
  if (typeof url !== 'string' || !LOOPBACK.matches(url)) return null;
  return originOf(url.replace(/^ws/, 'http'));
}

/** Whether an address is a file's. */
export function isFile(url: string): boolean {
  return url.startsWith('file:///');
}
