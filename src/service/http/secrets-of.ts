import { decodeUserInfo } from '../../common/url/credentials.ts';

interface WithProxy {
  proxyUrl?: string | undefined;
}

/**
 * The secrets in a request's body, or in the browser's settings in it, so that a message that echoes them does not show
 * them: a proxy address, and the user name with its password in it, as written and decoded.
 */
export function secretsOf(body: WithProxy & { browser?: WithProxy }): string[] {
  const proxyUrl = body.proxyUrl ?? body.browser?.proxyUrl;
  const credentials = proxyUrl && /^[a-z0-9+.-]+:\/\/([^/]*)@/i.exec(proxyUrl)?.[1];
  if (!credentials) return [];
  const password = credentials.slice(credentials.indexOf(':') + 1);
  return [proxyUrl, credentials, password, decodeUserInfo(password)];
}
