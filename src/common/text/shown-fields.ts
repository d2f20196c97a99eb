import { redactText } from '../../redact.ts';
import { decodeUserInfo } from '../url/credentials.ts';
import { parsedUrl } from '../url/parsed-url.ts';

/**
 * What others see of each option, of each field of a request, and of each variable: reporters, logs and errors. A value
 * is a secret because of its field, whatever it looks like.
 */

/**
 * `'value'`: as it is, unless it is an address; `'origin'`: of an address its scheme, host and port; `'hidden'`: only
 * that there is a value.
 */
export type Shown = 'value' | 'origin' | 'hidden';

const MASK = '***';
const NOT_SHOWN = ' (its value is not shown)';
/** Longer refused texts are not quoted: one may be a key that was put into the wrong field. In characters. */
const MAX_QUOTED = 20;

/** By the name of the field; a field that is missing here is not shown to reporters. */
export const SHOWN_FIELDS = {
  // The run.
  service: 'value',
  browsers: 'origin',
  max: 'value',
  provider: 'value',
  baseURL: 'origin',
  apiKey: 'hidden',
  budget: 'value',
  bandwidthMB: 'value',
  proxiedMB: 'value',
  sessions: 'value',
  costCents: 'value',
  evidence: 'value',
  workers: 'value',
  shards: 'value',
  timings: 'value',
  // A project.
  pool: 'value',
  fallback: 'value',
  session: 'value',
  reuse: 'value',
  acquireTimeout: 'value',
  metering: 'value',
  ahead: 'value',
  film: 'value',
  exposeNetwork: 'value',
  context: 'value',
  mode: 'value',
  clear: 'value',
  identity: 'value',
  relay: 'origin',
  // A session, and a pool and its template.
  create: 'value',
  name: 'value',
  size: 'value',
  browser: 'value',
  leaseTimeoutSeconds: 'value',
  maxReadyAgeSeconds: 'value',
  type: 'value',
  duration: 'value',
  browserCheck: 'value',
  nodeId: 'value',
  country: 'value',
  url: 'origin',
  proxyUrl: 'origin',
  windowSize: 'value',
  displaySize: 'value',
  timezone: 'value',
  language: 'value',
  profile: 'value',
  persist: 'value',
  adblock: 'value',
  captchaSolver: 'value',
  extensionIds: 'value',
  note: 'hidden',
  acceptLang: 'value',
  ttsLanguage: 'value',
  disableSpeechApi: 'value',
  gpu: 'value',
  tags: 'hidden',
  // Of responses, and of other tools.
  cdpUrl: 'hidden',
  password: 'hidden',
  token: 'hidden',
  authorization: 'hidden',
  headers: 'hidden',
  // The environment.
  POOLWRIGHT_SERVICE: 'value',
  POOLWRIGHT_BASE_URL: 'origin',
  POOLWRIGHT_API_KEY: 'hidden',
  POOLWRIGHT_CDP_URL: 'origin',
  POOLWRIGHT_PROVIDER: 'value',
  POOLWRIGHT_POOL: 'value',
  POOLWRIGHT_WORKERS: 'value',
  POOLWRIGHT_AHEAD: 'value',
  POOLWRIGHT_HOLD: 'value',
  POOLWRIGHT_RELAY: 'origin',
  CI: 'value',
} as const satisfies Record<string, Shown>;

/** However it is written: `proxyURL` is as secret as `proxyUrl`. */
const BY_NAME = new Map(Object.entries<Shown>(SHOWN_FIELDS).map(([name, shown]) => [name.toLowerCase(), shown]));

/** A copy of these options as reporters may see them. */
export function shownOptions<T extends object>(options: T): T {
  return shownObject(options) as T; // texts stay texts, and fields keep their types
}

function shownObject(options: object): object {
  const fields = Object.entries(options).filter(([name]) => shownAs(name) !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, shownValue(name, value)]));
}

function shownValue(field: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shownValue(field, item));
  if (typeof value === 'object' && value !== null) return shownObject(value);
  const shown = shownAs(field);
  if (value === undefined) return undefined;
  if (shown === 'hidden') return MASK;
  if (typeof value !== 'string') return value;
  return shown === 'origin' || value.includes('://') ? (shownAddress(value) ?? MASK) : redactText(value);
}

/** Whether nothing of the field's value is shown. */
export function isHidden(field: string): boolean {
  return shownAs(field) === 'hidden';
}

function shownAs(field: string): Shown | undefined {
  return BY_NAME.get(field.toLowerCase());
}

/** What the message that refuses a value of `field` says of it: `, got "30"`. */
export function got(field: string, value: unknown): string {
  const shown = shownAs(field);
  if (shown === 'hidden' && /^(string|number)$/.test(typeof value)) return NOT_SHOWN;
  if (typeof value === 'string') return gotText(shown, value);
  if (Array.isArray(value)) return `, got an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return ', got an object';
  return `, got ${typeof value === 'function' ? 'a function' : String(value)}`;
}

function gotText(shown: Shown | undefined, text: string): string {
  if (text !== '' && (shown === 'origin' || /:\/\/|@/.test(text))) {
    const address = shownAddress(text);
    return address === null ? NOT_SHOWN : `, got "${address}"`;
  }
  return text.length > MAX_QUOTED ? `, got ${text.length} characters` : `, got ${JSON.stringify(redactText(text))}`;
}

/** A secret in a path or a query is at least so long: shorter parts of it are names. */
const MIN_TOKEN = 16;

/**
 * The secrets of an address, for texts of others that may hold one of them alone: the whole, its credentials as written
 * and decoded, and what may be a token in its path, query or fragment.
 */
export function addressSecrets(address: string): string[] {
  const [, credentials, rest = ''] = /^[a-z0-9+.-]+:\/\/(?:([^/]*)@)?(.*)$/is.exec(address) ?? [];
  const tokens = rest.split(/[/?&=#]/).slice(1);
  const password = credentials?.slice(credentials.indexOf(':') + 1);
  return [
    address,
    ...(credentials && password !== undefined ? [credentials, password, decodeUserInfo(password)] : []),
    ...tokens.filter(({ length }) => length >= MIN_TOKEN).flatMap((token) => [token, decodeUserInfo(token)]),
  ];
}

/** Scheme, host and port of an address; null where it is not certain which part of the text these are. */
export function shownAddress(address: string): string | null {
  const { protocol, host, username, password } = parsedUrl(address.trim()) ?? {};
  if (!protocol || !host || !address.includes('://')) return null;
  // An unescaped `/`, `?` or `#` in a password ends the host for a parser: what it takes for host and port is a secret.
  const parts = address.split('@').length - 1;
  return parts > (username || password ? 1 : 0) ? null : `${protocol}//${host}`;
}
