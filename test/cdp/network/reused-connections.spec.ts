import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { type Browser, chromium } from '@playwright/test';
import { ProxyFetcher, wholeOf } from '../../../src/cdp/network/send/fetcher.ts';
import { selfSigned } from '../../support/cdp/dev-server.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { localChromium } from '../../support/local-chromium.ts';

type End = 'end' | 'destroy' | 'resetAndDestroy';

/**
 * A server that closes the connection on a request for `/end`, unless that is the connection's first request, and on
 * every request for `/always`.
 */
class EndingServer {
  /** The requests received, and whether each came on a new or a reused connection. */
  readonly requests: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server;
  readonly #scheme: string;

  constructor(
    readonly end: End,
    isSecure: boolean,
  ) {
    const serve = (socket: Socket) => this.#serve(socket);
    this.#scheme = isSecure ? 'https' : 'http';
    this.#server = isSecure ? createSecureServer(selfSigned(), serve) : createServer(serve);
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let count = 0;
    let sent = '';
    socket.on('error', () => undefined);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      sent += chunk;
      const [head = '', body] = sent.split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      sent = '';
      count += 1;
      const [method, path = ''] = head.split(' ');
      this.requests.push(`${method} ${path} ${body} (${count > 1 ? 'kept' : 'new'})`);
      if (path === '/always' || (path === '/end' && count > 1)) socket[this.end]();
      else if (path === '/part' && count > 1) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\npart');
      else socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nok');
    });
  }
}

const test = base.extend<{ local: Browser; serveEnding: (end: End, isSecure?: boolean) => Promise<EndingServer> }>({
  local: async ({}, use) => {
    const browser = await chromium.launch({ executablePath: await localChromium(), args: ['--no-sandbox'] });
    await use(browser);
    await browser.close();
  },
  serveEnding: async ({}, use) => {
    const servers: EndingServer[] = [];
    await use(async (end, isSecure = false) => {
      const server = new EndingServer(end, isSecure);
      servers.push(server);
      await server.start();
      return server;
    });
    for (const server of servers) server.stop();
  },
});

const REQUESTS: [method: string, path: string, body: string | null][] = [
  ['GET', '/end', null],
  ['POST', '/end', 'posted'],
  ['DELETE', '/end', null],
  ['GET', '/always', null],
  ['POST', '/always', 'posted'],
  ['GET', '/part', null],
];

/** The result of each request on a reused connection, and what the server sees of it. */
async function outcomes(server: EndingServer, ask: (...request: (typeof REQUESTS)[number]) => Promise<string>) {
  const seen: Record<string, unknown> = {};
  for (const request of REQUESTS) {
    let result = '';
    // A client may open another connection although it has one.
    for (let tries = 0; tries < 50 && !server.requests.some((each) => each.endsWith('(kept)')); tries++) {
      await ask('GET', '/first', null);
      server.requests.length = 0;
      result = await ask(...request);
    }
    seen[request.join(' ')] = [result, ...new Set(server.requests.splice(0))];
  }
  return seen;
}

for (const [end, isSecure] of [
  ['end', false],
  ['destroy', false],
  ['resetAndDestroy', false],
  ['end', true],
] as const) {
  const how = `by ${end}()${isSecure ? ', with TLS' : ''}`;
  test(`repeats a request when a kept-alive connection closes without a response, like a browser: ${how}`, async ({
    local,
    serveEnding,
  }) => {
    const server = await serveEnding(end, isSecure);
    const page = await (await local.newContext({ ignoreHTTPSErrors: true })).newPage();
    await page.goto(`${server.url}/page`);
    server.requests.length = 0;
    const direct = await outcomes(server, async (method, path, body) =>
      page.evaluate(
        async ({ path, ...init }) =>
          await fetch(path, init)
            .then((answer) => answer.text())
            .catch(() => 'failed'),
        { method, path, body },
      ),
    );
    const fetcher = new ProxyFetcher();
    const { signal } = new AbortController();
    const common = { ignoreHTTPSErrors: true, isScripts: false, download: 'never', headers: {}, signal } as const;
    const carried = await outcomes(server, async (method, path, body) => {
      const request = { url: server.url + path, method, body: body === null ? null : Buffer.from(body) };
      const outcome = await fetcher.fetch({ ...common, ...request });
      if ('failure' in outcome) return 'failed';
      return await wholeOf(outcome).then(String, () => 'failed');
    });
    fetcher.close();
    expect(carried).toEqual(direct);
    expect(carried).toMatchObject({
      'POST /end posted': ['ok', 'POST /end posted (kept)', 'POST /end posted (new)'],
      'GET /always ': ['failed', 'GET /always  (kept)', 'GET /always  (new)'],
      'GET /part ': ['failed', 'GET /part  (kept)'],
    });
  });
}
