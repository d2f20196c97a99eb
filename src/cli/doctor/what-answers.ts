import { parsedUrl } from '../../common/url/parsed-url.ts';

/** Time limit of each question, in ms. */
const ASK_MS = 3_000;

/**
 * Names the server at an address that should be a browser's CDP, and the next step; null if it is unknown. The address
 * is a secret: the result has only its host.
 */
export async function whatAnswers(address: string): Promise<string | null> {
  const url = parsedUrl(address);
  if (!url) return null;
  const { host, pathname, protocol } = url;
  const origin = `${/^(wss|https):$/.test(protocol) ? 'https' : 'http'}://${host}`;
  if (/\/devtools\/page\//.test(pathname))
    return `This is the address of one page. Use that of its browser: ${origin}.`;
  const server = await get(`${origin}/json`);
  if (server?.status === 401 || server?.status === 403)
    return `The server at ${host} refuses without a valid token or password. Use its ws:// address, with the token.`;
  if (typeof Object(await jsonOf(server)).wsEndpointPath === 'string')
    return `At ${host} is a Playwright server (\`run-server\`, \`launchServer\`): it has Playwright's own protocol, not CDP. Start a Chromium instead, with --remote-debugging-port.`;
  const version = await jsonOf(await get(`${origin}/json/version`));
  if (typeof Object(version).webSocketDebuggerUrl === 'string')
    return `The debugging port at ${host} has a browser under another address. Use ${origin}: the ws:// address changes with each start.`;
  return await siteAt(origin, host);
}

async function siteAt(origin: string, host: string): Promise<string | null> {
  const response = await get(origin);
  if (!response) return null;
  const isPage = response.headers.get('content-type')?.includes('html') === true;
  return `At ${host} is a ${isPage ? 'web site' : 'server'} without a debugging port. Use the address of a browser, for example of \`chromium --headless --remote-debugging-port=9222\`.`;
}

async function jsonOf(response: Response | null): Promise<unknown> {
  return await response?.json().catch(() => null);
}

async function get(url: string): Promise<Response | null> {
  // Without credentials and token, which may be another service's.
  return await fetch(url, { signal: AbortSignal.timeout(ASK_MS), redirect: 'manual' }).catch(() => null);
}
