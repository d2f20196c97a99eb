/**
 * The fields of `POST /v1/browser/session`, written from the table in section 4.2 of the service document alone,
 * without the schemas under test.
 */

type Rule = (value: unknown) => boolean;

/** Counted as in JSON Schema: by UTF-16 code units, as JavaScript does. */
const text =
  (min: number, max = Number.POSITIVE_INFINITY): Rule =>
  (value) =>
    typeof value === 'string' && value.length >= min && value.length <= max;
const flag: Rule = (value) => value === true || value === false;

const size: Rule = (value) => {
  if (typeof value !== 'string' || !/^[0-9]{1,5}x[0-9]{1,5}$/.test(value)) return false;
  const [width = 0, height = 0] = value.split('x').map(Number);
  return 320 <= width && width <= 16_384 && 200 <= height && height <= 16_384;
};

const proxy: Rule = (value) => {
  if (typeof value !== 'string') return false;
  const [scheme = ''] = value.split('://');
  if (!value.includes('://')) return false;
  if (scheme.toLowerCase() === 'dedicated') return true; // any of its forms; others are `invalid_spec`
  return ['socks5', 'socks5h'].includes(scheme.toLowerCase()) && URL.canParse(value) && isHostOnly(new URL(value));
};

/** No part of an address but credentials, host and port. */
function isHostOnly({ hostname, pathname, search, hash }: URL): boolean {
  return hostname !== '' && ['', '/'].includes(pathname) && search + hash === '';
}

const profile: Rule = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { name, persist, ...others } = value as Record<string, unknown>;
  return text(1)(name) && (persist === undefined || flag(persist)) && Object.keys(others).length === 0;
};

/** Whether a value is allowed, by field. */
export const CREATE_RULES = new Map<string, Rule>([
  ['nodeId', text(1)],
  ['country', (value) => typeof value === 'string' && /^[A-Za-z][A-Za-z]$/.test(value)],
  ['type', (value) => ['hosted', 'hosted_stealth', 'hosted_privacy'].includes(value as string)],
  ['url', text(1)],
  ['proxyUrl', proxy],
  ['windowSize', size],
  ['displaySize', size],
  ['timezone', text(1, 128)],
  ['language', text(2, 64)],
  ['duration', (value) => Number.isInteger(value) && 60 <= (value as number) && (value as number) <= 3600],
  ['profile', profile],
  ['adblock', flag],
  ['captchaSolver', flag],
  ['extensionIds', (value) => Array.isArray(value) && value.every(text(1))],
  ['browserCheck', flag],
  ['note', text(0, 256)],
]);

/** Returns the fields of a body that the document does not allow; null for anything but an object. */
export function wrongFields(body: unknown): string[] | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null;
  return Object.entries(body)
    .filter(([name, value]) => !CREATE_RULES.get(name)?.(value))
    .map(([name]) => name);
}
