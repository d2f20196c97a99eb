import { isLoopbackHost } from '../../../common/url/loopback.ts';
import { parsedUrl } from '../../../common/url/parsed-url.ts';

/** The origin of an address, including `blob:` addresses; null if it is opaque, or the text is not an address. */
export function originOf(url: unknown): string | null {
  const origin = typeof url === 'string' ? parsedUrl(url)?.origin : undefined;
  return origin === undefined || origin === 'null' ? null : origin;
}

/** The origin of an `http:` or `https:` address on this machine's loopback; null for any other text. */
export function loopbackOrigin(url: unknown): string | null {
  const parsed = typeof url === 'string' ? parsedUrl(url) : null;
  if (!parsed) return null;
  const { protocol, hostname, origin } = parsed;
  return /^https?:$/.test(protocol) && isLoopbackHost(hostname) ? origin : null;
}
