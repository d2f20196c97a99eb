/** Keeps secrets out of what people and files see. Imports nothing. */

const MASK = '***';
/** A shorter one would mask half of every text. */
const MIN_SECRET_LENGTH = 4;

/**
 * Addresses whose path or query is the secret (`cdpUrl` carries its token there): only scheme and host survive. They end
 * at the first character that no URL has (RFC 3986), which a bracket or an apostrophe is not.
 */
const CDP_ADDRESS = /\bwss?:\/\/[^\s"`<>{|}\\^]+/gi;
/** The same within another address. */
const ENCODED_CDP_ADDRESS = /\bwss?%3a%2f%2f[^\s"`<>{|}\\^&]+/gi;
/** `socks5://user:password@host`. The last `@` counts, and the password may hold a `/`: people write it as it is. */
const PROXY_CREDENTIALS = /\b(socks\w*:\/\/)[^\s"`<>]*@/gi;
/** The same of any scheme. Where a path may follow, a password with a `/` is one that stands behind a colon and is no port. */
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#:[]*:(?!\d*[/?#])[^\s"`<>]*|[^\s/?#"`<>\\]*)@/gi;
const BEARER = /\b(bearer\s+)[^\s"',;]+/gi;

/**
 * `text` without secrets: CDP addresses cut to their host, credentials in URLs and bearer tokens masked, and every
 * one of `secrets` (values of at least 4 characters) masked wherever it stands, also percent-encoded or as JSON has it.
 */
export function redactText(text: string, secrets: Iterable<string> = []): string {
  const result = text
    .replace(CDP_ADDRESS, (address) => {
      const host = /^(wss?:\/\/)(?:[^/?#]*@)?([^/?#']*)/i.exec(address);
      return host ? `${host[1]}${host[2]}/${MASK}` : MASK;
    })
    .replace(ENCODED_CDP_ADDRESS, MASK)
    .replace(PROXY_CREDENTIALS, `$1${MASK}@`)
    .replace(URL_CREDENTIALS, `$1${MASK}@`)
    .replace(BEARER, `$1${MASK}`);
  // The longest first: of one that begins with another the rest would be left.
  const named = [...secrets].filter(({ length }) => length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length);
  return named.length === 0 ? result : result.replace(new RegExp(named.map(anyForm).join('|'), 'g'), MASK);
}

/** A pattern for this text, each of its characters as it is or escaped. */
function anyForm(secret: string): string {
  return Array.from(secret, (character) => {
    const forms = new Set([character, JSON.stringify(character).slice(1, -1), ...percentEncoded(character)]);
    if (/['`]/.test(character)) forms.add(`\\${character}`);
    return `(?:${[...forms].map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`;
  }).join('');
}

function percentEncoded(character: string): string[] {
  const hex = Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(
    '',
  );
  return [hex, hex.toUpperCase(), ...(character === ' ' ? ['+'] : [])];
}
