/** Keeps secrets out of what people and files see. Imports nothing. */

const MASK = '***';

/** Addresses whose path or query is the secret (`cdpUrl` carries its token there): only scheme and host survive. */
const CDP_ADDRESS = /\bwss?:\/\/[^\s"'`<>)\]}]+/gi;
/** `scheme://user:password@host` of any scheme: proxies, base addresses. */
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"'`<>]+@/gi;
const BEARER = /\b(bearer\s+)[^\s"',;]+/gi;

/**
 * `text` without secrets: CDP addresses cut to their host, credentials in URLs and bearer tokens masked, and every
 * one of `secrets` (values of at least 4 characters) masked wherever it stands.
 */
export function redactText(text: string, secrets: Iterable<string> = []): string {
  let result = text
    .replace(CDP_ADDRESS, (address) => {
      const host = /^(wss?:\/\/)(?:[^/?#@]*@)?([^/?#]*)/i.exec(address);
      return host ? `${host[1]}${host[2]}/${MASK}` : MASK;
    })
    .replace(URL_CREDENTIALS, `$1${MASK}@`)
    .replace(BEARER, `$1${MASK}`);
  for (const secret of secrets) {
    if (secret.length >= 4) result = result.replaceAll(secret, MASK);
  }
  return result;
}
