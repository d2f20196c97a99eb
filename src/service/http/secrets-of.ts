import { decodeUserInfo } from '../../common/url/credentials.ts';

/**
 * The secrets in a request's body, so that a message that echoes them does not show them: a proxy address, and the
 * user name with its password in it, as written and decoded.
 */
export function secretsOf(body: { proxyUrl?: string | undefined }): string[] {
  const { proxyUrl } = body;
  const credentials = proxyUrl && /^[a-z0-9+.-]+:\/\/([^/]*)@/i.exec(proxyUrl)?.[1];
  if (!credentials) return [];
  const password = credentials.slice(credentials.indexOf(':') + 1);
  return [proxyUrl, credentials, password, decodeUserInfo(password)];
}
