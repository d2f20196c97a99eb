import type { Protocol } from 'devtools-protocol';
import { dateNow } from '../../../common/clock.ts';
import { reportedText } from '../headers/header-list.ts';

/** A cookie of a response, for CDP. */
export type CookieToSet = Omit<Protocol.Network.SetCookieRequest, 'partitionKey'>;

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;

/** Whether a `Set-Cookie` header, in wire text, is for the partition of its request only. */
export function isPartitioned(line: string): boolean {
  return /;\s*partitioned\s*(;|$|=)/i.test(line);
}

/** Reads a `Set-Cookie` header; null if the browser would ignore it. @param url of the response */
export function cookieToSet(line: string, url: string): CookieToSet | null {
  const [pair = '', ...parts] = reportedText(line).split(';');
  const at = pair.indexOf('=');
  const [name, value] = at === -1 ? ['', pair.trim()] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  if (name === '' && value === '') return null;
  const given = new Map(
    parts.map((part) => {
      const [key = '', ...rest] = part.split('=');
      return [key.trim().toLowerCase(), rest.join('=').trim()];
    }),
  );
  const sameSite = SAME_SITE[String(given.get('samesite')).toLowerCase() as keyof typeof SAME_SITE];
  const domain = given.get('domain')?.replace(/^\./, '').toLowerCase();
  const { hostname } = new URL(url);
  if (domain && hostname !== domain && !hostname.endsWith(`.${domain}`)) return null;
  const path = given.get('path');
  const expires = expiry(given.get('max-age'), given.get('expires'));
  return {
    name,
    value,
    url,
    secure: given.has('secure'),
    httpOnly: given.has('httponly'),
    ...(domain && { domain: `.${domain}` }),
    ...(path?.startsWith('/') && { path }),
    ...(sameSite && { sameSite }),
    ...(expires !== null && { expires }),
  };
}

/** In seconds; null for a cookie of the session. */
function expiry(maxAge: string | undefined, expires: string | undefined): number | null {
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    // One second after the epoch: zero means a cookie of the session.
    return Number(maxAge) > 0 ? dateNow() / 1000 + Number(maxAge) : 1;
  }
  const date = expires === undefined ? Number.NaN : Date.parse(expires);
  return Number.isNaN(date) ? null : Math.max(1, date / 1000);
}
