/** Hosts that are this machine, however they are written. */
const LOOPBACK_HOST = /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** The origin of an address, also of a `blob:` one; null for what has none of its own, or is no address. */
export function originOf(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { origin } = new URL(url);
  return origin === 'null' ? null : origin;
}

/** The origin of an `http:` or `https:` address on this machine's loopback; null for every other text. */
export function loopbackOrigin(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { protocol, hostname, origin } = new URL(url);
  return /^https?:$/.test(protocol) && LOOPBACK_HOST.test(hostname) ? origin : null;
}

/** An address as a request for it has it. */
export function withoutFragment(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}
