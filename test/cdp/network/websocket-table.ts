import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { BrowserContext, BrowserContextOptions, Frame, Page, WebSocket } from '@playwright/test';
import { WebSocketServer } from 'ws';
import { selfSigned } from '../../support/cdp/dev-server.ts';

/** How long an observation may take, in ms. */
const PATIENCE_MS = 10_000;
/** Bound on a behaviour, in ms: large messages take long on a busy machine. */
const BOUND_MS = 40_000;

const OPEN = `function openSocket(path, { say = [], until = 1, protocols = [], closeWith } = {}) {
  const { protocol, host } = new URL(self.location.href.replace(/^blob:/, ''));
  return talk(new WebSocket((protocol === 'https:' ? 'wss://' : 'ws://') + host + path, protocols), say, until, closeWith);
}
function talk(socket, say, until, closeWith) {
  const got = [];
  socket.onopen = () => {
    got.push(['open', socket.protocol, socket.extensions]);
    for (const one of say) socket.send(one);
  };
  socket.onmessage = ({ data, origin }) => {
    got.push(['message', data instanceof Blob ? 'blob of ' + data.size : data, origin]);
    if (got.length === until + 1 && closeWith) socket.close(...closeWith);
  };
  socket.onerror = () => got.push(['error', socket.readyState]);
  return new Promise((resolve) => {
    socket.onclose = ({ code, reason, wasClean }) => resolve([...got, ['close', code, reason, wasClean]]);
  });
}`;

const SCRIPTS: Readonly<Record<string, string>> = {
  '/worker.js': `${OPEN} onmessage = async ({ data }) => postMessage(await openSocket(...data));`,
  '/shared.js': `${OPEN} onconnect = ({ ports: [port] }) => { port.onmessage = async ({ data }) => port.postMessage(await openSocket(...data)); };`,
  '/sw.js': `${OPEN}
    self.addEventListener('install', () => self.skipWaiting());
    self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    self.addEventListener('message', (event) => event.waitUntil(openSocket(...event.data).then((got) => event.source.postMessage(got))));`,
};

/** A server with pages, workers and WebSockets that records handshakes. */
class WebSocketTableServer {
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: true,
    handleProtocols: (offered) => (offered.has('chosen') ? 'chosen' : false),
  });
  readonly #isSecure: boolean;
  readonly handshakes: { path: string; headers: IncomingMessage['headers'] }[] = [];
  readonly changes = new EventEmitter();

  private constructor(isSecure: boolean) {
    this.#isSecure = isSecure;
    const listener: RequestListener = (request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://any');
      const script = SCRIPTS[pathname];
      response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
      if (pathname === '/cookie') response.setHeader('set-cookie', ['a=1', 'b=2; HttpOnly', 'c=3; Path=/deep']);
      response.end(script ?? `<!doctype html><link rel=icon href=data:,><script>${OPEN}</script><body>`);
    };
    const server = isSecure ? createSecureServer(selfSigned(), listener) : createServer(listener);
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      const path = request.url ?? '';
      const { 'sec-websocket-key': _drawn, ...headers } = request.headers;
      this.handshakes.push({ path, headers });
      if (path === '/refused') return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
      if (path === '/moved') return socket.end('HTTP/1.1 302 Found\r\nlocation: /echo\r\n\r\n');
      if (path === '/garbage') return socket.end('no HTTP at all\r\n\r\n');
      if (path === '/reset') return socket.destroy();
      this.#sockets.handleUpgrade(request, socket, head, (opened) => {
        if (path === '/at-once') return opened.close(4000, 'at once');
        if (path === '/invalid') return void socket.write(Buffer.from([0xff, 0x01, 0x41]));
        opened.on('close', (code, reason) => {
          this.closes.push([code, String(reason)]);
          this.changes.emit('change');
        });
        opened.on('message', (data, binary) => {
          if (String(data) === 'bye') opened.close(4001, 'as asked');
          else if (String(data) === 'cut') opened.terminate();
          else opened.send(data, { binary });
        });
      });
    });
    this.#server = server;
  }
  readonly closes: [number, string][] = [];

  static async start(isSecure: boolean): Promise<WebSocketTableServer> {
    const started = new WebSocketTableServer(isSecure);
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    return started;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `${this.#isSecure ? 'https' : 'http'}://localhost:${this.port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.close();
    (this.#server as ReturnType<typeof createServer>).closeAllConnections();
    await once(this.#server, 'close');
  }
}

interface Scene {
  page: Page;
  context: BrowserContext;
  server: WebSocketTableServer;
  /** Opens a WebSocket in the page and returns what the page sees of it. */
  open: (path: string, options?: object) => Promise<unknown>;
  /** Everything that Playwright reports about WebSockets, as it comes. */
  reported: string[];
  /** Waits until this is reported. */
  until: (isTrue: () => boolean) => Promise<void>;
}

export interface Behaviour {
  secure?: boolean;
  options?: BrowserContextOptions;
  /** Before the page visits the server. */
  before?: (page: Page, context: BrowserContext) => Promise<unknown>;
  run: (scene: Scene) => Promise<unknown>;
  /** The page leaves without closing its WebSocket: a browser does not report its end. */
  isLeft?: boolean;
  /** Whether the server gets the handshake depends on timing. */
  mayNotArrive?: boolean;
}

const mock = (place: Pick<Page | BrowserContext, 'routeWebSocket'>) =>
  place.routeWebSocket(/.*/, (route) => {
    route.onMessage((message) => {
      route.send(`mocked ${message}`);
      if (message === 'end') void route.close({ code: 3001, reason: 'by the mock' });
    });
  });
const through = (place: Pick<Page | BrowserContext, 'routeWebSocket'>) =>
  place.routeWebSocket(/.*/, (route) => {
    const server = route.connectToServer();
    route.onMessage((message) => server.send(`${message} there`));
    server.onMessage((message) => route.send(`${message} and back`));
  });
const TALK = { say: ['hi', 'end'], until: 2, closeWith: [3000, 'done'] };
const ECHO = { say: ['hi'], until: 1, closeWith: [3000, 'done'] };

const evaluate = (frame: Page | Frame, path: string, options: object) =>
  frame.evaluate(`openSocket(${JSON.stringify(path)}, ${JSON.stringify(options)})`);

const inWorker = (script: string) =>
  `new Promise((resolve) => { const worker = new Worker('${script}'); worker.onmessage = ({ data }) => resolve(data); worker.onerror = ({ message }) => resolve('error ' + message); worker.postMessage(['/echo', ${JSON.stringify(ECHO)}]); })`;

/** What a page, a test or a server does with WebSockets. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'text, binary and a close by the page': {
    run: async ({ page }) =>
      await page.evaluate(`(async () => {
        const ends = openSocket('/echo', { say: ['ü', new Uint8Array([1, 2]), new Blob(['blob']), ''], until: 4, closeWith: [3000, 'done'] });
        return await ends;
      })()`),
  },
  'a close without a code': { run: ({ open }) => open('/echo', { say: ['hi'], closeWith: [] }) },
  'a close with a message by the server': { run: ({ open }) => open('/echo', { say: ['bye'] }) },
  'a close at once': { run: ({ open }) => open('/at-once') },
  'a broken connection': { run: ({ open }) => open('/echo', { say: ['cut'] }) },
  'a refused handshake': { run: ({ open }) => open('/refused') },
  'a redirected handshake': { run: ({ open }) => open('/moved') },
  'a response that is not HTTP': { run: ({ open }) => open('/garbage') },
  'a reset during the handshake': { run: ({ open }) => open('/reset') },
  'an invalid frame': { run: ({ open }) => open('/invalid') },
  'a port without a server': {
    run: ({ page }) => page.evaluate(`talk(new WebSocket('ws://localhost:59/'), [], 1)`),
  },
  'a protocol that the server chooses': { run: ({ open }) => open('/echo', { ...ECHO, protocols: ['a', 'chosen'] }) },
  'a protocol that the server ignores': { run: ({ open }) => open('/echo', { ...ECHO, protocols: ['a'] }) },
  'a close while it connects': {
    mayNotArrive: true,
    run: ({ page }) =>
      page.evaluate(`(() => {
        const { host } = location;
        const socket = new WebSocket('ws://' + host + '/echo');
        const ends = talk(socket, [], 1);
        socket.close();
        return ends;
      })()`),
  },
  'a close while it connects, after the server has accepted': {
    run: ({ page }) =>
      page.evaluate(`(() => {
        const socket = new WebSocket('ws://' + location.host + '/echo');
        const ends = talk(socket, [], 1);
        // Meanwhile, no event reaches the page.
        for (const until = performance.now() + 1000; performance.now() < until; );
        socket.close();
        return ends;
      })()`),
  },
  'the page is closed': {
    isLeft: true,
    run: async ({ page, until, reported, server }) => {
      await page.evaluate(`void openSocket('/echo', { say: ['hi'] })`);
      await until(() => reported.length >= 3);
      await page.close();
      await until(() => server.closes.length > 0);
      return server.closes;
    },
  },
  'the page goes elsewhere': {
    isLeft: true,
    run: async ({ page, until, reported, server }) => {
      await page.evaluate(`void openSocket('/echo', { say: ['hi'] })`);
      await until(() => reported.length >= 3);
      await page.goto('about:blank');
      await until(() => server.closes.length > 0);
      return server.closes;
    },
  },
  'the page reloads': {
    isLeft: true,
    run: async ({ page, until, reported, server }) => {
      await page.evaluate(`void openSocket('/echo', { say: ['hi'] })`);
      await until(() => reported.length >= 3);
      await page.reload();
      await until(() => server.closes.length > 0);
      return server.closes;
    },
  },
  'a frame is removed': {
    run: async ({ page, until, reported, server }) => {
      await page.evaluate(
        `new Promise((resolve) => { const frame = document.createElement('iframe'); frame.src = '/'; frame.onload = resolve; document.body.append(frame) })`,
      );
      await page.frames()[1]?.evaluate(`void openSocket('/echo', { say: ['hi'] })`);
      await until(() => reported.length >= 3);
      await page.evaluate(`document.querySelector('iframe').remove()`);
      await until(() => server.closes.length > 0);
      return server.closes;
    },
  },
  'cookies, languages, headers and a user agent of the context': {
    options: { locale: 'de-CH', userAgent: 'Agent/7', extraHTTPHeaders: { 'x-own': 'yes', 'accept-language': 'fr' } },
    run: async ({ page, server, open }) => {
      await page.goto(`${server.origin}/cookie`);
      return await open('/deep/echo', ECHO);
    },
  },
  'languages among the headers of the context': {
    options: { extraHTTPHeaders: { 'accept-language': 'fr', 'user-agent': 'Agent/9' } },
    run: ({ open }) => open('/echo', ECHO),
  },
  'headers of the context in a worker': {
    options: { locale: 'de-CH', userAgent: 'Agent/7', extraHTTPHeaders: { 'x-own': 'yes' } },
    run: async ({ page, server }) => {
      await page.goto(`${server.origin}/cookie`);
      return await page.evaluate(inWorker('/worker.js'));
    },
  },
  'headers of a page': {
    run: async ({ page, open }) => {
      await page.setExtraHTTPHeaders({ 'x-own': 'yes', 'User-Agent': 'Agent/8' });
      return await open('/echo', ECHO);
    },
  },
  'a self-signed server': {
    secure: true,
    options: { ignoreHTTPSErrors: true },
    run: ({ open }) => open('/echo', ECHO),
  },
  'a self-signed server that is not trusted': {
    run: async ({ page, context }) => {
      const server = await WebSocketTableServer.start(true);
      try {
        // A visit, although the page rejects the certificate.
        const other = await context.newPage();
        await other.goto(server.origin).catch(() => null);
        await other.close();
        return await page.evaluate(`talk(new WebSocket('wss://localhost:${server.port}/echo'), [], 1)`);
      } finally {
        await server.stop();
      }
    },
  },
  offline: {
    run: async ({ context, open }) => {
      await context.setOffline(true);
      return await open('/echo', ECHO);
    },
  },
  'page.routeWebSocket before the visit': { before: mock, run: ({ open }) => open('/echo', TALK) },
  'page.routeWebSocket after the visit': {
    run: async ({ page, open }) => {
      await mock(page);
      await page.reload();
      return await open('/echo', TALK);
    },
  },
  'context.routeWebSocket before the visit': {
    before: (_page, context) => mock(context),
    run: ({ open }) => open('/echo', TALK),
  },
  'context.routeWebSocket after the visit': {
    run: async ({ page, context, open }) => {
      await mock(context);
      await page.reload();
      return await open('/echo', TALK);
    },
  },
  'connectToServer before the visit': { before: through, run: ({ open }) => open('/echo', TALK) },
  'connectToServer after the visit': {
    run: async ({ page, open }) => {
      await through(page);
      await page.reload();
      return await open('/echo', TALK);
    },
  },
  'a route in a page that the test opened before it visited another': {
    before: async (page, context) => {
      const other = await context.newPage();
      await mock(page);
      await other.close();
    },
    run: async ({ page, context, server }) => {
      const second = await WebSocketTableServer.start(false);
      try {
        const other = await context.newPage();
        await mock(other);
        await page.goto(second.origin);
        await other.goto(server.origin);
        await page.goto(server.origin);
        const all = [await evaluate(other, '/echo', TALK), await evaluate(page, '/echo', TALK)];
        await other.goto(second.origin);
        return [...all, await evaluate(other, '/echo', TALK)].map((one) => JSON.stringify(one));
      } finally {
        await second.stop();
      }
    },
  },
  'a route in a frame': {
    before: mock,
    run: async ({ page }) => {
      await page.evaluate(
        `new Promise((resolve) => { const frame = document.createElement('iframe'); frame.src = '/'; frame.onload = resolve; document.body.append(frame) })`,
      );
      return await evaluate(page.frames()[1] ?? page, '/echo', TALK);
    },
  },
  'a route in a popup': {
    before: (_page, context) => mock(context),
    run: async ({ page }) => {
      const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void window.open('/')`)]);
      await popup.waitForLoadState();
      return await evaluate(popup, '/echo', TALK);
    },
  },
  'an init script of the test that replaces WebSocket': {
    before: (page) =>
      page.addInitScript(`globalThis.WebSocket = class extends WebSocket { send(data) { super.send('sub ' + data) } }`),
    run: ({ open }) => open('/echo', ECHO),
  },
  'an empty popup': {
    run: async ({ page }) => {
      const [popup] = await Promise.all([
        page.waitForEvent('popup'),
        page.evaluate(`void (self.popup = window.open(''))`),
      ]);
      return [
        await popup.evaluate(
          `(() => { ${OPEN}; return talk(new WebSocket('ws://' + opener.location.host + '/echo'), ['hi'], 1, [3000, 'x']) })()`,
        ),
        await page.evaluate(`talk(new popup.WebSocket('ws://' + location.host + '/echo'), ['hi'], 1, [3000, 'x'])`),
      ];
    },
  },
  'an empty popup at once': {
    run: ({ page }) =>
      page.evaluate(
        `(() => { const popup = window.open('about:blank'); return talk(new popup.WebSocket('ws://' + location.host + '/echo'), ['hi'], 1, [3000, 'x']) })()`,
      ),
  },
  'a written popup': {
    run: async ({ page }) => {
      await page.evaluate(
        `(() => { const popup = window.open('about:blank'); popup.document.write('<script>' + talk + '; opener.ended = talk(new WebSocket("ws://' + location.host + '/echo"), ["hi"], 1, [3000, "x"])</' + 'script>') })()`,
      );
      return await page.evaluate('ended');
    },
  },
  'an empty frame': {
    run: ({ page }) =>
      page.evaluate(
        `(() => { const frame = document.createElement('iframe'); document.body.append(frame); return talk(new frame.contentWindow.WebSocket('ws://' + location.host + '/echo'), ['hi'], 1, [3000, 'x']) })()`,
      ),
  },
  'a srcdoc frame': {
    run: async ({ page }) => {
      await page.evaluate(
        `new Promise((resolve) => { const frame = document.createElement('iframe'); frame.srcdoc = '<p>'; frame.onload = resolve; document.body.append(frame) })`,
      );
      return await page.evaluate(
        `talk(new frames[0].WebSocket('ws://' + location.host + '/echo'), ['hi'], 1, [3000, 'x'])`,
      );
    },
  },
  'a dedicated worker': { run: ({ page }) => page.evaluate(inWorker('/worker.js')) },
  'a module worker': {
    run: ({ page }) => page.evaluate(inWorker('/worker.js').replace(`.js')`, `.js', { type: 'module' })`)),
  },
  'a blob worker': {
    run: ({ page }) =>
      page.evaluate(
        `fetch('/worker.js').then((response) => response.blob()).then((blob) => { const url = URL.createObjectURL(blob); return (${inWorker('URL').replace("'URL'", 'url')}); })`,
      ),
  },
  'a shared worker': {
    run: ({ page }) =>
      page.evaluate(
        `new Promise((resolve) => { const { port } = new SharedWorker('/shared.js'); port.onmessage = ({ data }) => resolve(data); port.postMessage(['/echo', ${JSON.stringify(ECHO)}]); })`,
      ),
  },
  'a service worker': {
    run: ({ page }) =>
      page.evaluate(
        `(async () => { await navigator.serviceWorker.register('/sw.js'); const { active } = await navigator.serviceWorker.ready;
          return await new Promise((resolve) => { navigator.serviceWorker.onmessage = ({ data }) => resolve(data); active.postMessage(['/echo', ${JSON.stringify(ECHO)}]); }) })()`,
      ),
  },
  'large messages': {
    run: ({ page }) =>
      page.evaluate(`openSocket('/echo', { say: [new Uint8Array(2_000_000)], closeWith: [3000, 'x'] })`),
  },
};

/** Runs one behaviour in a page, which may have run others. */
export async function observeWebSockets(
  page: Page,
  { secure = false, before, run, isLeft = false, mayNotArrive = false }: Behaviour,
): Promise<unknown> {
  const server = await WebSocketTableServer.start(secure);
  const context = page.context();
  const reported: string[] = [];
  const onPage = (other: Page) => follow(other, reported, server.changes);
  try {
    context.on('page', onPage);
    follow(page, reported, server.changes);
    await before?.(page, context);
    await page.goto(server.origin);
    const scene: Scene = {
      page,
      context,
      server,
      reported,
      open: (path, given = {}) => evaluate(page, path, given),
      until: (isTrue) => becomes(isTrue, server.changes),
    };
    const result = await bounded(run(scene));
    // The last events may follow the page's own.
    const count = (start: string) => reported.filter((one) => one.startsWith(start)).length;
    if (!isLeft) await becomes(() => count('closed') >= count('open'), server.changes);
    const handshakes = mayNotArrive ? [] : server.handshakes;
    // Both directions are independent: each has its order, but not one in relation to the other.
    const sent = reported.filter((one) => one.startsWith('sent '));
    const others = reported.filter((one) => !one.startsWith('sent '));
    const text = JSON.stringify({ result, reported: { sent, others }, handshakes });
    return JSON.parse(
      text
        .replaceAll(/localhost:\d+/g, 'localhost')
        // The proxy does not know which bits.
        .replaceAll(/(reserved bits are on)[^"]*/g, '$1'),
    );
  } finally {
    context.off('page', onPage);
    await page.removeAllListeners(undefined, { behavior: 'ignoreErrors' });
    await server.stop();
  }
}

function follow(page: Page, reported: string[], changes: EventEmitter): void {
  const note = (what: string) => {
    reported.push(what);
    changes.emit('change');
  };
  page.on('console', (message) => {
    if (!message.text().startsWith('poolwright: ')) note(`console ${message.text()}`);
  });
  page.on('websocket', (socket: WebSocket) => {
    note(`open ${socket.url()}`);
    socket.on('framesent', ({ payload }) => note(`sent ${typeof payload === 'string' ? payload : payload.length}`));
    socket.on('framereceived', ({ payload }) => note(`got ${typeof payload === 'string' ? payload : payload.length}`));
    socket.on('socketerror', (error) => note(`error ${error}`));
    socket.on('close', () => note(`closed ${socket.isClosed()}`));
  });
}

async function becomes(isTrue: () => boolean, changes: EventEmitter, ms = PATIENCE_MS): Promise<void> {
  const signal = AbortSignal.timeout(ms);
  while (!(isTrue() || signal.aborted)) await once(changes, 'change', { signal }).catch(() => undefined);
}

async function bounded<T>(asked: Promise<T>): Promise<T | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, BOUND_MS, 'never');
  });
  const failed = (error: Error) => `failed: ${error.message.split('\n')[0]}`;
  return await Promise.race([asked.catch(failed), late]).finally(() => clearTimeout(timer));
}
