/**
 * User name and password of an address, as Chromium reads them: escapes are decoded, a lone `%` stays. Either is taken
 * as it is written where what is decoded would be no UTF-8, or hold control characters.
 */
export function urlCredentials({ username, password }: URL): { username: string; password: string } {
  return { username: decodeUserInfo(username), password: decodeUserInfo(password) };
}

/** One of the two alone. */
export function decodeUserInfo(text: string): string {
  try {
    const plain = decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    return /[\x00-\x1f\x7f]/.test(plain) ? text : plain;
  } catch {
    return text;
  }
}

interface WithProxy {
  proxyUrl?: string | undefined;
}

/**
 * The secrets in a request's body, or in the browser's settings in it, so that a message that echoes them does not show
 * them: a proxy address, and the user name with its password in it, as written and decoded.
 */
export function proxySecrets(body: WithProxy & { browser?: WithProxy }): string[] {
  const proxyUrl = body.proxyUrl ?? body.browser?.proxyUrl;
  const credentials = proxyUrl && /^[a-z0-9+.-]+:\/\/([^/]*)@/i.exec(proxyUrl)?.[1];
  if (!credentials) return [];
  const password = credentials.slice(credentials.indexOf(':') + 1);
  return [proxyUrl, credentials, password, decodeUserInfo(password)];
}
