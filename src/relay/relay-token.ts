import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { parsedJson } from '../common/text/parsed-json.ts';

/** Tokens that let a worker use a relay: for one browser, once, for a short time. */

/** The variable with the secret that a run's broker and its relay share. */
export const RELAY_SECRET = 'POOLWRIGHT_RELAY_SECRET';

/** How long a token is valid, in ms. A worker uses it at once, but the clocks of two machines differ. */
const VALID_MS = 5 * 60_000;
/** Minimum length of the secret, in characters. */
export const MIN_SECRET_LENGTH = 16;

const claims = v.strictObject({
  /** Different in each token: a relay accepts it once. */
  id: v.string(),
  /** Hash of the address of the browser. */
  browser: v.string(),
  /** ms since the epoch. */
  expiresAt: v.number(),
});

/** The content of a token. */
export type RelayClaims = v.InferOutput<typeof claims>;

/** Identifies a `cdpUrl` without containing it. */
export function browserHash(cdpUrl: string): string {
  return createHash('sha256').update(cdpUrl).digest('base64url');
}

export function issueRelayToken(secret: string, cdpUrl: string, now = Date.now()): string {
  const content: RelayClaims = { id: randomUUID(), browser: browserHash(cdpUrl), expiresAt: now + VALID_MS };
  const body = Buffer.from(JSON.stringify(content)).toString('base64url');
  return `${body}.${signature(secret, body)}`;
}

/** The content of a token; null if it is expired, malformed or was issued with another secret. */
export function readRelayToken(secret: string, token: string, now = Date.now()): RelayClaims | null {
  const [body = '', given = '', ...rest] = token.split('.');
  const wanted = Buffer.from(signature(secret, body));
  const actual = Buffer.from(given);
  if (rest.length > 0 || wanted.length !== actual.length || !timingSafeEqual(wanted, actual)) return null;
  const content = v.safeParse(claims, parsedJson(Buffer.from(body, 'base64url').toString()));
  return content.success && content.output.expiresAt > now ? content.output : null;
}

function signature(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('base64url');
}
