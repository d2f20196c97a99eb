import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The time that it takes does not depend on the texts. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/**
 * Whether a request is for this server's address: a foreign web site could give its name our address. Without a port,
 * too, because ChromeDriver leaves it out.
 */
export function isOwnHost({ headers }: IncomingMessage, port: number): boolean {
  return ['127.0.0.1', 'localhost'].some((host) => headers.host === `${host}:${port}` || headers.host === host);
}

/**
 * Whether a web page, or a link on one, has made a request to a port that is for programs only. Browsers send `Origin`
 * with each WebSocket and each request that changes something, and `Sec-Fetch-Site` with all requests. Chromium's own
 * port refuses `Origin`, too.
 */
export function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || (headers['sec-fetch-site'] ?? 'none') !== 'none';
}
