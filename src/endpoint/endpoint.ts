import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Protocol } from 'devtools-protocol';
import { fieldsOf } from '../cdp/message.ts';
import { distFile } from '../common/dist-file.ts';
import { errorMessage } from '../common/error-message.ts';
import { listenOn } from '../common/platform/listen-on.ts';
import { newSecret, refuseOtherUsers } from '../common/platform/local-access.ts';
import { redactText } from '../redact.ts';
import type { BrowserClients } from './browser-clients.ts';
import { ToolLeases } from './leases.ts';
import { type EndpointRequest, FIRST_PAGE, readRequest, socketRoute } from './routes.ts';
import { servePlaywright } from './sockets/playwright-protocol.ts';
import { serveTool } from './sockets/tool-socket.ts';
import { toolSockets } from './sockets/web-socket.ts';
import { type ListedTarget, listTargets, openPage } from './targets.ts';
import type { ToolBrowsers } from './tool-lease.ts';

/** Time limit for the head of a request, in ms, and how often it is checked. */
const HEAD_TIMEOUT_MS = 10_000;
const CHECK_MS = 1_000;

const FIRST_MESSAGE_MS = 60_000;

/** The address at which tools get hosted browsers. */
export interface Endpoint {
  /** `ws://127.0.0.1:<port>/<token>`. A secret: everyone who has it can use browsers. */
  url: string;
  /** Opens a port that needs no token, for tools that take only a port. Returns its number, always the same one. */
  openPort(): Promise<number>;
  /** Ends every lease, and closes the ports. */
  stop(): Promise<void>;
}

export interface EndpointOptions {
  /** How many browsers there may be at the same time. Default: as many as the broker gives. */
  max?: number | undefined;
  /** The port of the address. Default 0: any free one. */
  port?: number | undefined;
  /** How long a tool that has connected may take to send its first message, in ms. Default 60 s. */
  firstMessageMs?: number;
}

/**
 * Opens the address, on this machine only. It looks like the port of a Chromium; each connection to its browser leases
 * one.
 * @throws OptionsError for a port that is in use
 */
export async function startEndpoint(
  browsers: ToolBrowsers,
  { max, port = 0, firstMessageMs = FIRST_MESSAGE_MS }: EndpointOptions = {},
): Promise<Endpoint> {
  const leases = new ToolLeases(browsers, max);
  const token = newSecret();
  const listening = await listen(leases, { port, token, firstMessageMs });
  const url = `ws://127.0.0.1:${listening.port}/${token}`;
  let open: Promise<ListeningPort> | null = null;
  return {
    url,
    openPort: async () => {
      open ??= listen(leases, { port: 0, token: null, firstMessageMs });
      return (await open).port;
    },
    stop: async () => {
      const ports = open === null ? [listening] : [listening, await open];
      for (const each of ports) each.refuse();
      await leases.stop();
      for (const each of ports) each.close();
    },
  };
}

interface ListeningPort {
  port: number;
  /** Accepts no more connections. */
  refuse(): void;
  /** Closes those that there are. */
  close(): void;
}

interface PortOptions {
  port: number;
  /** Null: this machine's other users are kept out in another way. */
  token: string | null;
  firstMessageMs: number;
}

async function listen(leases: ToolLeases, { port: asked, token, firstMessageMs }: PortOptions): Promise<ListeningPort> {
  const server = createServer({
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: HEAD_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
  });
  const sockets = toolSockets();
  if (token === null) refuseOtherUsers(server);
  const port = await listenOn(server, { host: '127.0.0.1', port: asked });
  server.on('request', (request, response) => {
    const read = readRequest(request, port, token);
    // Their bodies are of no use.
    request.resume();
    if (typeof read === 'number') response.writeHead(read).end();
    else void respond(request, response, read, { token, leases });
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const read = readRequest(request, port, token);
    const route = typeof read === 'number' ? null : socketRoute(read);
    if (route === null) {
      socket.end(`HTTP/1.1 ${typeof read === 'number' ? read : 404} Refused\r\nconnection: close\r\n\r\n`);
      socket.resume();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const userAgent = request.headers['user-agent'] ?? '';
      if (route.kind === 'playwright') {
        // This process leases the browser, at this very port.
        const { id } = route;
        const address = `${baseOf(request, token)}/browser/${id}`;
        void servePlaywright(opened, { userAgent, address, giveBack: () => leases.end(id), firstMessageMs });
        return;
      }
      serveTool(opened, { route, userAgent, firstMessageMs }, leases);
    });
  });
  return {
    port,
    refuse: () => void server.close(),
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
    },
  };
}

/** The address of everything in Chromium's protocol at this port. */
function baseOf({ headers }: IncomingMessage, token: string | null): string {
  return `ws://${headers.host}${token === null ? '' : `/${token}`}/devtools`;
}

/**
 * Tools ask for these over HTTP, as of Chromium's port: `/json/version`, `/json/list`, `/json/new`, `/json/protocol`.
 * Never rejects.
 */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { path, query }: EndpointRequest,
  { token, leases }: { token: string | null; leases: ToolLeases },
): Promise<void> {
  const base = baseOf(request, token);
  const [isJson, command = 'list', targetId = ''] = /^json(?:\/(\w+)(?:\/([\w-]+))?)?$/.exec(path) ?? [];
  const id = query.get('lease');
  let status = 200;
  let body: unknown;
  try {
    const browser = id === null ? null : await leases.find(id)?.clients;
    if (command === 'protocol') body = createRequire(import.meta.url)(distFile('protocol.cjs')).protocol;
    else if (isJson !== undefined && browser === null) body = withoutLease(command, base);
    else if (isJson !== undefined && browser) {
      body = await ofBrowser(browser, { command, targetId, url: query.get('url'), base, id });
    }
    if (body === undefined) status = 404;
  } catch (error) {
    status = 503;
    body = redactText(errorMessage(error));
  }
  const text = JSON.stringify(body ?? 'Not found', null, 2);
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(text);
}

/** The browser is leased when the tool connects to the address in the response. Undefined: there is no such command. */
function withoutLease(command: string, base: string): unknown {
  const id = randomUUID();
  const page = asListed(
    { id: FIRST_PAGE, type: 'page', title: '', url: 'about:blank' },
    `${base}/page/${id}.${FIRST_PAGE}`,
  );
  switch (command) {
    case 'version':
      return { Browser: 'Chrome', 'Protocol-Version': '1.3', webSocketDebuggerUrl: `${base}/browser/${id}` };
    case 'list':
      return [page];
    case 'new':
      return page;
    default:
      return undefined;
  }
}

interface JsonCommand {
  command: string;
  targetId: string;
  url: string | null;
  base: string;
  /** Of the lease. */
  id: string | null;
}

/** Undefined: there is no such command. @throws PoolwrightError */
async function ofBrowser(browser: BrowserClients, { command, targetId, url, base, id }: JsonCommand): Promise<unknown> {
  const list = async () =>
    (await listTargets(browser)).map((target) => asListed(target, `${base}/page/${id}.${target.id}`));
  switch (command) {
    case 'version':
      return await version(browser, `${base}/browser/${id}`);
    case 'list':
      return await list();
    case 'new': {
      const opened = await openPage(browser, url ?? 'about:blank');
      return (await list()).find((target) => target.id === opened);
    }
    case 'activate':
      await browser.call('Target.activateTarget', { targetId });
      return 'Target activated';
    case 'close':
      await browser.call('Target.closeTarget', { targetId });
      return 'Target is closing';
    default:
      return undefined;
  }
}

function asListed(target: ListedTarget, webSocketDebuggerUrl: string): ListedTarget {
  return { ...target, webSocketDebuggerUrl };
}

async function version(browser: BrowserClients, webSocketDebuggerUrl: string): Promise<object> {
  const { product, protocolVersion, userAgent, jsVersion, revision } = fieldsOf<Protocol.Browser.GetVersionResponse>(
    await browser.call('Browser.getVersion'),
  );
  return {
    Browser: product,
    'Protocol-Version': protocolVersion,
    'User-Agent': userAgent,
    'V8-Version': jsVersion,
    'WebKit-Version': `537.36 (${revision})`,
    webSocketDebuggerUrl,
  };
}
