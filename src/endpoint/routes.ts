import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isFromPage, isOwnHost, isSame } from '../common/platform/local-access.ts';
import { parsedUrl } from '../common/url/parsed-url.ts';

/** A request to the endpoint, without the token. */
export interface EndpointRequest {
  /** `json/version` */
  path: string;
  query: URLSearchParams;
}

/** What a WebSocket connects to. */
export interface SocketRoute {
  /** ID of the lease. */
  id: string;
  /**
   * `browser`: it speaks to the browser; `lease`: it only keeps the lease; `page`: it speaks to a target; `playwright`:
   * it speaks Playwright's own protocol.
   */
  kind: 'browser' | 'lease' | 'page' | 'playwright';
  targetId: string;
  /** Whether the tool must not see the page that a new browser shows. */
  hidesPages: boolean;
  /** What the browser's page shows at first; null: whatever it has. */
  open: string | null;
}

/** In place of a target's ID: the page that the browser has. */
export const FIRST_PAGE = 'first';

const SOCKETS = /^(?:devtools\/(browser)\/|(lease)\/|devtools\/(page)\/)([\w-]{1,100})(?:\.([\w-]{1,100}))?$/;

/**
 * Returns a request that has the token in its path, and comes from a program of this machine. Else the HTTP status of
 * the refusal, which is the same for each wrong token.
 * @param token null: the port needs none
 */
export function readRequest(request: IncomingMessage, port: number, token: string | null): EndpointRequest | number {
  if (!isOwnHost(request, port) || isFromPage(request)) return 403;
  const url = parsedUrl(request.url ?? '/', 'http://endpoint');
  if (!url) return 404;
  const { pathname, searchParams } = url;
  if (token === null) return { path: pathname.replace(/^\/|\/$/g, ''), query: searchParams };
  const [, given = '', path = ''] = /^\/([^/]*)(?:\/(.*?))?\/?$/.exec(pathname) ?? [];
  return isSame(given, token) ? { path, query: searchParams } : 404;
}

/** Null if a path is not an address for a WebSocket. */
export function socketRoute({ path, query }: EndpointRequest): SocketRoute | null {
  const rest = { hidesPages: query.get('pages') === 'hidden', open: query.get('open') };
  // Each connection to the bare address has a separate browser.
  if (path === '' || path === 'playwright') return { id: randomUUID(), kind: path || 'browser', targetId: '', ...rest };
  const [, browser, lease, page, id, targetId] = SOCKETS.exec(path) ?? [];
  const kind = browser ?? lease ?? page;
  if (id === undefined || (kind === 'page') !== (targetId !== undefined)) return null;
  return {
    id,
    kind: kind as SocketRoute['kind'],
    targetId: targetId ?? '',
    ...rest,
  };
}
