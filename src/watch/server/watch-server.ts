import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';
import type { WatchedRuns } from '../../broker/watch/view.ts';
import { distFile } from '../../common/dist-file.ts';
import { listenOn } from '../../common/platform/listen-on.ts';
import { isOwnHost } from '../../common/platform/local-access.ts';
import { Access, isSameOrigin } from './access.ts';
import { Demands } from './demands.ts';
import { failed, PageConnection } from './page-connection.ts';
import { entryHtml, ICON, PAGE_HTML } from './page-html.ts';
import type { PageMessage } from './page-messages.ts';
import { MAX_MESSAGE_BYTES } from './page-messages.ts';

const HOST = '127.0.0.1';
/** WebSocket close code: the server stops. */
const GOING_AWAY = 1001;

export interface WatchServer {
  port: number;
  readonly pages: number;
  /** An address that opens the page once. @param channel where it is given; replaces its earlier address */
  address(channel: string): string;
  close(): Promise<void>;
}

/**
 * Serves the page on loopback, to browsers that have come by an {@link WatchServer.address}.
 * @param port default: any free one
 * @throws OptionsError if the port cannot be used
 */
export async function startWatchServer(runs: WatchedRuns, { port: wanted = 0 } = {}): Promise<WatchServer> {
  const access = new Access();
  const pages = new Set<PageConnection>();
  const demands = new Demands(runs, pages);
  let port = 0;
  const server = createServer((request, response) => {
    const content = isOwnHost(request, port) ? contentFor(request, access, runs) : 403;
    respond(response, String(request.headers.host), content);
  });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const mayOpen = isOwnHost(request, port) && isSameOrigin(request) && access.isGranted(request);
    if (mayOpen && request.url === `${access.base}socket`) {
      sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened));
    } else socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  sockets.on('connection', (socket) => {
    const page: PageConnection = new PageConnection(socket, {
      views: () => runs.all.map(({ view }) => view),
      onDemand: () => {
        demands.update();
        demands.catchUp(page);
      },
      onMessage: (message) => act(runs, message),
    });
    pages.add(page);
    socket.on('close', () => {
      pages.delete(page);
      demands.update();
    });
  });
  port = await listenOn(server, { host: HOST, port: wanted });
  const endings = [
    runs.onChange(() => {
      demands.update();
      for (const page of pages) page.onChange();
    }),
    runs.onPicture((run, picture) => demands.send(run, picture)),
  ];
  return {
    port,
    get pages() {
      return pages.size;
    },
    address: (channel) => `http://${HOST}:${port}/open/${access.token(channel)}`,
    close: async () => {
      for (const end of endings) end();
      for (const socket of sockets.clients) socket.close(GOING_AWAY);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** The response to a request for this server. To everyone without the cookie, all addresses are alike. */
function contentFor(request: IncomingMessage, access: Access, runs: WatchedRuns): Content | Refusal {
  const { method, url = '' } = request;
  if (method !== 'GET') return 403;
  const [, token] = /^\/open\/([\w-]+)$/.exec(url) ?? [];
  const cookie = token === undefined ? null : access.redeem(token);
  if (cookie !== null) return { type: 'text/html', body: entryHtml(access.base), cookie };
  if (!url.startsWith(access.base) || !access.isGranted(request)) return 403;
  const path = url.slice(access.base.length);
  try {
    return FILES.get(path)?.() ?? lastPicture(path, runs) ?? 404;
  } catch (error) {
    // A file is not there while the package is replaced.
    failed('request', error);
    return 500;
  }
}

const FILES = new Map<string, () => Content>([
  ['', () => ({ type: 'text/html', body: PAGE_HTML })],
  ['watch.js', () => ({ type: 'text/javascript', body: readFileSync(distFile('watch.js')) })],
  ['watch.css', () => ({ type: 'text/css', body: readFileSync(distFile('watch.css')) })],
  ['icon.svg', () => ({ type: 'image/svg+xml', body: ICON })],
]);

/** `picture/<run>/<test>` */
function lastPicture(path: string, runs: WatchedRuns): Content | null {
  const [kind, run, test, ...others] = path.split('/').map(decoded);
  if (kind !== 'picture' || !run || !test || others.length > 0) return null;
  const body = runs.all.find(({ view }) => view.id === run)?.lastPicture(test);
  return body ? { type: 'image/jpeg', body } : null;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** Only a slot on hold takes input. */
function act(runs: WatchedRuns, message: Extract<PageMessage, { type: 'input' | 'release' }>): void {
  const run = runs.all.find(({ view }) => view.id === message.run);
  const slot = run?.view.slots.find(({ slot }) => slot === message.slot);
  if (!run || !slot?.hold) return;
  if (message.type === 'release') run.release(slot.slot);
  else run.input(slot.slot, message.target, message.input);
}

/** The content security policy for a page at this host. Browsers differ in whether `'self'` includes WebSockets. */
function policyFor(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ws://${host}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

interface Content {
  type: string;
  body: Buffer | string;
  /** `Set-Cookie` */
  cookie?: string;
}

/** Everyone without access gets 403. */
type Refusal = 403 | 404 | 500;

/** A refusal has no content and no reason. @param host the request's own, checked before there is content */
function respond(response: ServerResponse, host: string, content: Content | Refusal): void {
  if (typeof content === 'number') {
    response.writeHead(content, { ...HEADERS, 'content-length': 0 }).end();
    return;
  }
  const { type, body, cookie } = content;
  response.writeHead(200, {
    ...HEADERS,
    'content-security-policy': policyFor(host),
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
  });
  response.end(body);
}
