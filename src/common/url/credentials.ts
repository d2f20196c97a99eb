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
