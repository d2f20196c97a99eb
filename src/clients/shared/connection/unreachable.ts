import { withoutStack } from '../../../common/error-message.ts';
import { PoolwrightError } from '../../../errors.ts';
import { parseNetworkRules } from '../../../options/network-rules.ts';
import { printable } from '../../../printable.ts';

/** Which servers and files of this machine pages reach. */
export interface ExposedNetwork {
  /** Whether addresses that the test navigates to are proxied (`auto`). */
  auto: boolean;
  wasProxied(url: string): boolean;
}

/** Errors of requests that reached no server. Excludes those that a page, a route or `setOffline` aborted. */
const NO_SERVER =
  /^net::ERR_((CONNECTION|TUNNEL|PROXY|ADDRESS|NAME|EMPTY|SOCKET|SOCKS)_|BLOCKED_BY_(PRIVATE|LOCAL)_NETWORK_)/;
const NO_FILE = /^net::ERR_(FILE_NOT_FOUND|ACCESS_DENIED)$/;
const NO_PROXY = 'net::ERR_PROXY_CONNECTION_FAILED';
const LOOPBACK = parseNetworkRules('<loopback>');

/**
 * Explains a failed request to a server, proxy or file of this machine, which a remote browser cannot reach by itself.
 * The test only sees a refused connection or a missing file. Null for all other requests.
 * @param error the browser's name for it (`net::ERR_…`)
 */
export function unreachableText(url: string, error: string, exposed: ExposedNetwork): string | null {
  if (exposed.wasProxied(url)) return null;
  if (LOOPBACK.matches(url) && NO_SERVER.test(error)) return ofServer(new URL(url), exposed);
  if (error === NO_PROXY) return ofProxy(new URL(url), exposed);
  return url.startsWith('file:///') && NO_FILE.test(error) ? ofFile(url, exposed) : null;
}

/** Comes before the test's own error, which does not say which option to set. One line for each text. */
export function unreachableError(texts: Iterable<string>): PoolwrightError {
  return withoutStack(new PoolwrightError('NOT_CARRIED', Array.from(texts, printable).join('\n')));
}

function ofServer({ origin, host }: URL, { auto }: ExposedNetwork): string {
  if (!auto) {
    return `${origin} was not reached: a hosted browser reaches servers of this machine only through it. To allow this, set \`exposeNetwork: '<loopback>'\`.`;
  }
  return `${origin} was not reached: a page or redirect from elsewhere requested it. A hosted browser reaches servers of this machine only for pages of this machine that the test navigates to (\`page.goto\`). To allow this, set \`exposeNetwork: 'auto,${host}'\`.`;
}

function ofProxy({ origin, host }: URL, { auto }: ExposedNetwork): string {
  return `${origin} was not reached: the proxy of its context does not respond. A hosted browser connects to a proxy itself, unless it is on this machine's loopback. If only this machine reaches the proxy, set \`exposeNetwork: '${auto ? 'auto,' : ''}${host}'\`.`;
}

function ofFile(url: string, { auto }: ExposedNetwork): string {
  if (!auto) {
    return `${url} was not read: a hosted browser has another disk. To read this machine's file, set \`exposeNetwork: '<files>'\`.`;
  }
  return `${url} was not read: a hosted browser can only read files of this machine from the directory of a file that the test navigates to (\`page.goto\`). To expose all files, set \`exposeNetwork: 'auto,<files>'\`.`;
}
