/** Keeps secrets out of what people and files see. Imports nothing. */

const MASK = '***';
/** A shorter one would mask half of every text. */
const MIN_SECRET_LENGTH = 4;

/**
 * Addresses whose path or query is the secret (`cdpUrl` carries its token there): only scheme and host survive. They
 * end at the first character that no URL has (RFC 3986), which a bracket or an apostrophe is not.
 */
const CDP_ADDRESS = /\bwss?:\/\/[^\s"`<>{|}\\^]+/gi;
/** The same within another address. */
const ENCODED_CDP_ADDRESS = /\bwss?%3a%2f%2f[^\s"`<>{|}\\^&]+/gi;
const BEARER = /\b(bearer\s+)[^\s"',;]+/gi;
/** A parameter of a query or fragment, and the names under which people pass secrets there. */
const PARAMETER = /([?&#;])([\w.-]+)=[^\s"'`<>&#;]+/g;
const SECRET_NAME = /token|key|secret|passw|pwd|auth|sig|credential|jwt/i;

/**
 * `text` without secrets: CDP addresses cut to their host; credentials in URLs, parameters of queries that are named
 * like a secret (`?token=…`) and bearer tokens masked; and every one of `secrets` (values of at least 4 characters)
 * masked wherever it stands, also percent-encoded or as JSON or HTML has it.
 */
export function redactText(text: string, secrets: Iterable<string> = []): string {
  const addresses = text
    .replace(CDP_ADDRESS, (address) => {
      const host = /^(wss?:\/\/)(?:[^/?#]*@)?([^/?#']*)/i.exec(address);
      return host ? `${host[1]}${host[2]}/${MASK}` : MASK;
    })
    .replace(ENCODED_CDP_ADDRESS, MASK);
  const result = maskCredentials(addresses)
    .replace(BEARER, `$1${MASK}`)
    .replace(PARAMETER, (whole, sign, name) => (SECRET_NAME.test(name) ? `${sign}${name}=${MASK}` : whole));
  // The longest first: of one that begins with another the rest would be left.
  const named = [...secrets].filter(({ length }) => length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length);
  return named.length === 0 ? result : result.replace(patternOf(named), MASK);
}

/** The patterns of the lists used last: a log has the same list for every line, and its pattern takes long to make. */
const patterns = new Map<string, RegExp>();
const MAX_PATTERNS = 8;

function patternOf(secrets: readonly string[]): RegExp {
  const key = JSON.stringify(secrets);
  const known = patterns.get(key);
  if (known) return known;
  const pattern = new RegExp(secrets.map(anyForm).join('|'), 'g');
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(key, pattern);
  return pattern;
}

/**
 * Masks `user:password@` behind any `scheme://`. By hand, because a pattern that looks for an `@` from every `://` on,
 * or for a `://` from every word on, takes the square of the time on texts that never have one: every character here is
 * looked at a few times at most.
 */
function maskCredentials(text: string): string {
  const reach = new Reach(text);
  let masked = '';
  let copied = 0;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at)) {
    const begin = at + 3;
    const end = credentialsEnd(text, at, reach);
    at = begin;
    if (end < 0) continue;
    masked += `${text.slice(copied, begin)}${MASK}`;
    copied = end;
    at = end + 1;
  }
  return masked + text.slice(copied);
}

/** The position of the `@` behind the credentials of an address whose `://` is at `at`; -1 if it has none. */
function credentialsEnd(text: string, at: number, reach: Reach): number {
  const scheme = schemeBefore(text, at);
  if (scheme === '') return -1;
  const begin = at + 3;
  // A SOCKS address has no path. The last `@` counts, and the password may hold a `/`: people write it as it is.
  if (/\bsocks\w*$/i.test(scheme)) {
    const last = reach.lastAt(begin);
    if (last >= 0) return last;
  }
  // If a path may follow, a password with a `/` is what follows a colon and is not a port number.
  const user = matchEnd(/[^\s/?#:[]*/y, text, begin);
  if (text[user] === ':' && !/[/?#]/.test(text[matchEnd(/\d*/y, text, user + 1)] ?? '')) {
    const last = reach.lastAt(user + 1);
    if (last >= 0) return last;
  }
  const last = text.slice(begin, matchEnd(/[^\s/?#"`<>\\]*/y, text, begin)).lastIndexOf('@');
  return last < 0 ? -1 : begin + last;
}

/** The scheme before a `://`, with a letter in it; '' where there is none. */
function schemeBefore(text: string, at: number): string {
  let begin = at;
  while (begin > 0 && /[a-z0-9+.-]/i.test(text[begin - 1] ?? '')) begin -= 1;
  const scheme = text.slice(begin, at);
  return /[a-z]/i.test(scheme) ? scheme : '';
}

/** How far an address may reach: to the next blank, quote or angle bracket. Remembers what it found last. */
class Reach {
  #end = -1;
  #last = -1;

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The last `@` that an address which holds the character at `from` can have; -1: none. */
  lastAt(from: number): number {
    if (from > this.#end) {
      this.#end = matchEnd(/[^\s"`<>]*/y, this.#text, from);
      const last = this.#text.slice(from, this.#end).lastIndexOf('@');
      this.#last = last < 0 ? -1 : from + last;
    }
    return this.#last >= from ? this.#last : -1;
  }
}

/** Where a sticky pattern that matches from `from` on ends. */
function matchEnd(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.exec(text);
  return pattern.lastIndex;
}

/** A pattern for this text, each of its characters as it is or escaped. */
function anyForm(secret: string): string {
  return Array.from(secret, (character) => {
    const forms = new Set([character, JSON.stringify(character).slice(1, -1), ...percentEncoded(character)]);
    if (/['`]/.test(character)) forms.add(`\\${character}`);
    for (const form of [...forms]) forms.add(inHtml(form));
    return `(?:${[...forms].map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`;
  }).join('');
}

function percentEncoded(character: string): string[] {
  const hex = Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(
    '',
  );
  return [hex, hex.toUpperCase(), ...(character === ' ' ? ['+'] : [])];
}

/** As browsers write it into the text and the attributes of a document. */
function inHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\u00a0', '&nbsp;');
}
