import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page, Request, Response, WebSocket } from '@playwright/test';
import { WebSocketServer } from 'ws';
import { KINDS, type Treatment } from './request-kinds.ts';

/** One kind of request under one treatment, as seen by the server, the page and Playwright. */
export interface Observation {
  server: unknown[];
  page: unknown;
  playwright: unknown;
}

/** Timeout of Playwright's calls on a request and of the wait for its end, in ms. */
const PATIENCE_MS = 5_000;

/** A server on two ports that has a response for each kind of request and records the requests. */
export class TableServer {
  readonly #respond: RequestListener = (request, response) => {
    const body: Buffer[] = [];
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => {
      this.#note(request, Buffer.concat(body));
      if (request.headers.origin) {
        response.setHeader('access-control-allow-origin', request.headers.origin);
        response.setHeader('access-control-allow-credentials', 'true');
      }
      const [, treatment = '', kind = ''] = decodeURIComponent(request.url ?? '').split('/');
      if (treatment === 'redirected') {
        return response.writeHead(302, { location: `/final/${kind}`, 'set-cookie': 'hop=1' }).end();
      }
      const known = KINDS[kind];
      if (!known) return response.setHeader('content-type', 'text/html').end(PAGES[treatment] ?? PAGES.start);
      response.setHeader('content-type', known.type).setHeader('set-cookie', ['a=1', 'b=2; HttpOnly']);
      if (kind === 'service worker') response.setHeader('service-worker-allowed', '/');
      if (known.staysOpen) return response.write(known.body);
      const [, begin] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
      const size = known.body.length;
      if (begin !== undefined) {
        const range = `bytes ${begin}-${size - 1}/${size}`;
        response.writeHead(206, { 'content-range': range, 'content-length': size - Number(begin) });
      }
      return response.end(known.body.subarray(Number(begin ?? 0)));
    });
  };
  readonly #server = createServer(this.#respond);
  readonly #elsewhere = createServer(this.#respond);
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false });
  #seen: { request: string; headers: object; body: string }[] = [];
  readonly #changes = new EventEmitter();

  static async start(): Promise<TableServer> {
    const started = new TableServer();
    const server = started.#server;
    server.on('upgrade', (request, socket, head) => {
      started.#note(request, Buffer.alloc(0));
      if (request.url?.startsWith('/redirected')) {
        return socket.end('HTTP/1.1 302 Found\r\nlocation: /final/WebSocket\r\n\r\n');
      }
      started.#sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.on('message', (data) => opened.send(`${data} pong`));
      });
    });
    for (const each of [server, started.#elsewhere]) {
      each.listen(0, '127.0.0.1');
      await once(each, 'listening');
    }
    return started;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  /** The same on another port. */
  get elsewhere(): string {
    return originOf(this.#elsewhere);
  }

  /** Waits, with a timeout, for a new request whose address starts with this path. */
  async arrived(path: string): Promise<void> {
    await becomes(() => this.#seen.some(({ request }) => request.includes(` ${path}`)), this.#changes);
  }

  /** Returns the requests since the last call, without that for the page's start document. */
  take(): unknown[] {
    return this.#seen.splice(0);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    for (const server of [this.#server, this.#elsewhere]) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  #note({ method, url = '', headers }: IncomingMessage, body: Buffer): void {
    const { 'sec-websocket-key': _drawn, ...known } = headers;
    if (url !== '/start')
      this.#seen.push({ request: `${method} ${decodeURIComponent(url)}`, headers: known, body: String(body) });
    this.#changes.emit('change');
  }
}

function originOf(server: Server): string {
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

const PAGES: Readonly<Record<string, string>> = {
  start: '<!doctype html><link rel=icon href=data:,><body>',
  inner: 'from inside',
};

/** Sends a request of one kind from a new document of this page, and returns the observations. */
export async function observe(
  page: Page,
  server: TableServer,
  kind: string,
  treatment: Treatment,
): Promise<Observation> {
  const context = page.context();
  await context.clearCookies();
  await page.goto(`${server.origin}/start`);
  await treat(context, kind, treatment);
  server.take();
  const seen = new Seen(context, page);
  const origin = KINDS[kind]?.isElsewhere ? server.elsewhere : server.origin;
  const path = `${origin}/${treatment === 'redirected' ? treatment : 'asked'}/${encodeURIComponent(kind)}`;
  const outcome = await bounded(KINDS[kind]?.send(page, path, context));
  if (!KINDS[kind]?.unended?.includes(treatment)) await seen.settled();
  else if (KINDS[kind]?.endsAtServer) await server.arrived(treatment === 'plain' ? '/asked/' : '/final/');
  // Before asking Playwright for bodies: it may fetch one again.
  const asked = server.take();
  const observation = { server: asked, page: outcome, playwright: await seen.all() };
  await context.unrouteAll();
  return normalized(observation, [server.origin, server.elsewhere]);
}

async function treat(context: BrowserContext, kind: string, treatment: Treatment): Promise<void> {
  if (treatment === 'plain' || treatment === 'redirected') return;
  if (kind === 'WebSocket') {
    await context.routeWebSocket('**/asked/**', (route) => {
      if (treatment === 'continued') return void route.connectToServer();
      if (treatment === 'mocked') return route.onMessage((message) => route.send(`${message} mocked`));
      return void route.close({ code: 3002 });
    });
    return;
  }
  const { type = '', body = '' } = KINDS[kind] ?? {};
  await context.route('**/asked/**', async (route) => {
    const headers = { ...route.request().headers(), 'x-continued': 'yes' };
    if (treatment === 'continued') return await route.continue({ headers });
    if (treatment === 'mocked') {
      const allowed = { 'x-mocked': 'yes', 'service-worker-allowed': '/' };
      return await route.fulfill({ contentType: type, body, headers: { ...allowed, 'content-type': type } });
    }
    return await route.fulfill({ status: 302, headers: { location: `/final/${encodeURIComponent(kind)}` } });
  });
}

/** What Playwright reports about a context's requests from now on. */
class Seen {
  readonly #events = new Map<Request, string[]>();
  readonly #sockets: { url: string; events: unknown[] }[] = [];
  readonly #others: string[] = [];
  readonly #changes = new EventEmitter();

  constructor(context: BrowserContext, page: Page) {
    const note = (name: string) => (request: Request) => {
      // Their addresses differ each time.
      if (request.url().startsWith('blob:')) return;
      const known = this.#events.get(request);
      if (known) known.push(name);
      else this.#events.set(request, [name]);
      this.#changes.emit('change');
    };
    context.on('request', note('request'));
    context.on('response', (response) => note('response')(response.request()));
    context.on('requestfinished', note('requestfinished'));
    context.on('requestfailed', note('requestfailed'));
    context.on('serviceworker', () => this.#others.push('serviceworker'));
    page.on('worker', () => this.#others.push('worker'));
    page.on('download', () => this.#others.push('download'));
    page.on('console', (message) => this.#others.push(message.text()));
    page.on('websocket', (socket) => this.#follow(socket));
  }

  /** Waits, with a timeout, for the end of each request. */
  async settled(): Promise<void> {
    const hasEnded = (events: string[]) => events.some((name) => /finished|failed/.test(name));
    await becomes(() => this.#events.size > 0 && [...this.#events.values()].every(hasEnded), this.#changes);
  }

  async all() {
    const described = await Promise.all([...this.#events].map(([request, events]) => describe(request, events)));
    // By purpose: simultaneous requests of a page and its workers are reported in any order.
    const requests: Record<string, object> = {};
    for (const one of described) requests[one.request in requests ? `${one.request} again` : one.request] = one;
    return { requests, sockets: this.#sockets, others: this.#others.sort() };
  }

  #follow(socket: WebSocket): void {
    const events: unknown[] = [];
    this.#sockets.push({ url: socket.url(), events });
    socket.on('framesent', ({ payload }) => events.push(['sent', payload]));
    socket.on('framereceived', ({ payload }) => events.push(['received', payload]));
    socket.on('socketerror', () => events.push('error'));
    socket.on('close', () => events.push('close'));
  }
}

async function describe(request: Request, events: string[]) {
  const response = events.includes('response') ? await bounded(request.response()) : null;
  const base = {
    request: `${request.method()} ${decodeURIComponent(new URL(request.url()).pathname)}`,
    events,
    resourceType: request.resourceType(),
    isNavigation: request.isNavigationRequest(),
    of: request.serviceWorker() ? 'a service worker' : 'a frame',
    redirectedFrom:
      request.redirectedFrom() && decodeURIComponent(new URL(request.redirectedFrom()?.url() ?? '').pathname),
    failure: request.failure()?.errorText ?? null,
    postData: request.postData(),
    short: request.headers(),
    headers: events.includes('response') ? await bounded(request.allHeaders()) : request.headers(),
  };
  if (!events.some((name) => /finished|failed/.test(name))) return { ...base, response: typeof response };
  return typeof response === 'object' && response
    ? { ...base, response: await describeAnswer(request, response) }
    : { ...base, response };
}

async function describeAnswer(request: Request, response: Response) {
  return {
    status: response.status(),
    statusText: response.statusText(),
    short: response.headers(),
    headers: await bounded(response.allHeaders()),
    fromServiceWorker: response.fromServiceWorker(),
    server: await bounded(response.serverAddr()),
    sizes: await bounded(request.sizes()),
    body: await bounded(response.body().then(String)),
  };
}

/** Waits, with a timeout, until this is true; it may become so with a change. */
async function becomes(isTrue: () => boolean, changes: EventEmitter): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  while (!(isTrue() || signal.aborted)) await once(changes, 'change', { signal }).catch(() => undefined);
}

/** Returns the outcome: a value, a short form of the error, or that it never settled. */
async function bounded<T>(asked: Promise<T> = Promise.reject(new Error('nothing was asked'))): Promise<T | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, 'never');
  });
  const failed = (error: Error) => `failed: ${error.message.split('\n')[0]}`;
  return await Promise.race([asked.catch(failed), late]).finally(() => clearTimeout(timer));
}

function normalized(observation: Observation, origins: string[]): Observation {
  const ports = origins.map((origin) => new URL(origin).port);
  const text = ports.reduce((text, port, at) => text.replaceAll(port, `1111${at}`), JSON.stringify(observation));
  return JSON.parse(text.replaceAll(/"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT"/g, '"<date>"'));
}

/** Returns each value that differs, by its path: `server.0.headers.accept`. */
export function differences(
  local: unknown,
  proxied: unknown,
  path = '',
): [path: string, local: unknown, proxied: unknown][] {
  if (Object.is(local, proxied)) return [];
  const isBranch = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isBranch(local) || !isBranch(proxied)) return [[path, local, proxied]];
  const names = [...new Set([...Object.keys(local), ...Object.keys(proxied)])];
  return names.flatMap((name) => differences(local[name], proxied[name], path === '' ? name : `${path}.${name}`));
}
