import { withoutStack } from '../../common/text/without-stack.ts';
import { PoolwrightError } from '../../errors.ts';
import { parseNetworkRules } from '../../options/network-rules.ts';

/** What pages of a browser reach through this machine. */
export interface Carried {
  /** What the test itself goes to is carried. */
  byIntent: boolean;
  wasCarried(url: string): boolean;
}

/** How a request ends that no server took: not one that a page, a route or `setOffline` ended. */
const NO_SERVER =
  /^net::ERR_((CONNECTION|TUNNEL|PROXY|ADDRESS|NAME|EMPTY|SOCKET|SOCKS)_|BLOCKED_BY_(PRIVATE|LOCAL)_NETWORK_)/;
const NO_FILE = /^net::ERR_(FILE_NOT_FOUND|ACCESS_DENIED)$/;
const LOOPBACK = parseNetworkRules('<loopback>');

/**
 * Tells about a request to a server or file of this machine that no remote browser reaches by itself: all that the test
 * sees is a refused connection, or a file that is not there. Null for every other request.
 * @param error as the browser names it (`net::ERR_…`)
 */
export function unreachedText(url: string, error: string, carried: Carried): string | null {
  if (carried.wasCarried(url)) return null;
  if (LOOPBACK.matches(url) && NO_SERVER.test(error)) return ofServer(new URL(url), carried);
  return url.startsWith('file:///') && NO_FILE.test(error) ? ofFile(url, carried) : null;
}

/** What a test fails with beside its own error: without it, nothing there says what to set. */
export function unreachedError(texts: Iterable<string>): PoolwrightError {
  return withoutStack(new PoolwrightError('NOT_CARRIED', [...texts].join('\n')));
}

function ofServer({ origin, host }: URL, { byIntent }: Carried): string {
  if (!byIntent) {
    return `${origin} was not reached: a hosted browser reaches servers of this machine only through it. Set \`exposeNetwork: '<loopback>'\` if that is meant.`;
  }
  return `${origin} was not reached: a page, or a redirect, led there, and a hosted browser reaches servers of this machine only where the test itself goes (\`page.goto\`), for pages from there. Set \`exposeNetwork: 'auto,${host}'\` if that is meant.`;
}

function ofFile(url: string, { byIntent }: Carried): string {
  if (!byIntent) {
    return `${url} was not read: a hosted browser has another disk. Set \`exposeNetwork: '<files>'\` if this machine's file is meant.`;
  }
  return `${url} was not read: of this machine's files a hosted browser has those in the folder that the test itself goes to (\`page.goto\`). Set \`exposeNetwork: 'auto,<files>'\` if it shall have all.`;
}
