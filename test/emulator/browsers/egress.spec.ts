import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Browser, chromium } from '@playwright/test';
import { EgressProxy } from '../../../src/emulator/egress/egress-proxy.ts';
import { test as base, expect } from '../../support/emulator/fixtures.ts';
import { SocksServer } from '../../support/emulator/socks-server.ts';
import { freePort } from '../../support/free-port.ts';
import { localChromium } from '../../support/local-chromium.ts';
import { requires } from '../../support/requires.ts';

/** A site whose paths decide how it treats the connection. It records what it receives. */
class RawSite {
  readonly requests: string[] = [];
  readonly #sockets = new Set<Socket>();
  #held: Socket | undefined;
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of connections so far. */
  connections = 0;

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    let sent = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      sent += chunk;
      for (let end = sent.indexOf('\r\n\r\n'); end >= 0; end = sent.indexOf('\r\n\r\n')) {
        const head = sent.slice(0, end);
        sent = sent.slice(end + 4);
        this.requests.push(head);
        this.#answer(socket, head.split(' ')[1] ?? '');
      }
    });
    socket.once('end', () => socket.end());
  }

  /**
   * Sends part of a response; a request for `/go` then breaks the connection. Sent together, the part would hide the
   * break.
   */
  #hold(socket: Socket): void {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\npart');
    this.#held = socket;
  }

  #answer(socket: Socket, path: string): void {
    const html = '<!doctype html><link rel=icon href=data:,><title>raw</title>';
    const length = `content-type: text/html\r\ncontent-length: ${html.length}`;
    if (path === '/reset') socket.resetAndDestroy();
    else if (path === '/empty') socket.end();
    else if (path === '/cut') this.#hold(socket);
    else if (path === '/go') this.#held?.resetAndDestroy();
    else if (path === '/short') socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n${html}`);
    else if (path === '/until-end') socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n${html}`);
    else if (path === '/nonsense') socket.end('this is no HTTP');
    else socket.write(`HTTP/1.1 200 OK\r\n${length}\r\n\r\n${html}`);
  }
}

const test = base.extend<{ raw: RawSite; local: Browser }>({
  raw: async ({}, use) => {
    const site = new RawSite();
    await site.start();
    await use(site);
    site.stop();
  },
  local: async ({}, use) => {
    const browser = await chromium.launch({ executablePath: await localChromium(), args: ['--no-sandbox'] });
    await use(browser);
    await browser.close();
  },
});

/** The result of visiting each path: title or error, and whether one connection served two requests. */
async function visit(browser: Browser, raw: RawSite) {
  const context = await browser.newContext();
  const seen: Record<string, string> = {};
  for (const path of ['/', '/reset', '/empty', '/until-end', '/nonsense']) {
    const page = await context.newPage(); // the previous page may still be loading an error page
    seen[path] = await page.goto(raw.url + path).then(
      () => page.title(),
      (error: Error) => /net::\w+/.exec(error.message)?.[0] ?? error.message,
    );
  }
  const asking = await context.newPage();
  await asking.goto(raw.url);
  for (const path of ['/cut', '/short']) {
    const failed = asking.waitForEvent('requestfailed', (request) => request.url().endsWith(path));
    await asking.evaluate(`fetch('${path}').then(async (answer) => {
      const reader = answer.body.getReader();
      await reader.read();
      if ('${path}' === '/cut') void fetch('/go').catch(() => undefined);
      await reader.read();
    }).catch(() => undefined)`);
    seen[path] = (await failed).failure()?.errorText ?? '';
  }
  const page = await context.newPage();
  await page.goto(`${raw.url}/again`);
  const before = raw.connections;
  await page.goto(`${raw.url}/once-more`);
  const heads = raw.requests.splice(0).map((head) => head.replaceAll(raw.url.slice(7), 'HOST'));
  await context.close();
  return { seen, opened: raw.connections - before, heads };
}

test('page and site see the same as without the proxy', async ({ start, connect, raw, local }) => {
  const { api } = await start({ allowLoopback: true });
  const hosted = await connect((await api.create()).body.cdpUrl);
  const direct = await visit(local, raw);
  const proxied = await visit(hosted, raw);
  expect(proxied.seen).toEqual(direct.seen);
  expect(direct.seen).toMatchObject({
    '/': 'raw',
    '/reset': 'net::ERR_CONNECTION_RESET',
    '/cut': 'net::ERR_CONNECTION_RESET',
    '/short': 'net::ERR_CONTENT_LENGTH_MISMATCH',
    '/empty': 'net::ERR_EMPTY_RESPONSE',
  });
  expect(proxied.opened).toBe(direct.opened);
  expect(proxied.heads).toEqual(direct.heads);
});

test('an unreachable host is a network error, never a page', async ({ start, connect }) => {
  const { api } = await start({ allowLoopback: true });
  const closed = `http://127.0.0.1:${await freePort()}/`;
  for (const [url, netError] of [
    [closed, 'net::ERR_CONNECTION_REFUSED'],
    ['http://no-such-host.invalid/', 'net::ERR_NAME_NOT_RESOLVED'],
    ['https://no-such-host.invalid/', 'net::ERR_NAME_NOT_RESOLVED'],
  ] as const) {
    // A fresh browser: its last failure had another reason, which it may report late.
    const page = await (await connect((await api.create()).body.cdpUrl)).newPage();
    const failed = page.waitForEvent('requestfailed');
    await expect(page.goto(url), url).rejects.toThrow(netError);
    expect((await failed).failure()?.errorText).toBe(netError);
  }
});

test('only programs of the same user can use an upstream proxy, or reach loopback', async ({ raw }) => {
  requires('Linux');
  requires('root');
  const port = Number(new URL(raw.url).port);
  // Says hello as a SOCKS client without a password, asks for the host, and prints the response's status.
  const statusFor = async (uid: number, proxy: EgressProxy, host: string) => {
    const request = [5, 1, 0, 3, host.length, ...Buffer.from(host), port >> 8, port & 255];
    const script = `const socket = require('net').connect(${proxy.port}, '127.0.0.1').on('error', () => undefined);
      socket.write(Buffer.from([5, 1, 0]));
      let received = Buffer.alloc(0);
      socket.on('data', (data) => {
        received = Buffer.concat([received, data]);
        if (received.length === 2) socket.write(Buffer.from(${JSON.stringify(request)}));
        if (received.length < 4) return;
        console.log(String(received[3]));
        socket.destroy();
      });`;
    const child = spawn(process.execPath, ['-e', script], {
      uid,
      gid: uid,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(errors).toBe('');
    return Number(printed);
  };
  const [granted, notAllowed] = [0, 2];
  const [own, other] = [0, 65_534];
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const refused = 'egress: refused a connection by a program of another user of this machine';
  const socks = await SocksServer.start();
  const proxied = await EgressProxy.start({ allowLoopback: false, upstream: socks.url, log });
  const local = await EgressProxy.start({ allowLoopback: true, log });
  const neither = await EgressProxy.start({ allowLoopback: false, log });
  try {
    expect(await statusFor(own, proxied, 'site.test')).toBe(granted);
    expect(await statusFor(own, local, '127.0.0.1')).toBe(granted);
    expect(lines.splice(0)).toEqual([]);
    expect(await statusFor(other, proxied, 'site.test')).toBe(notAllowed);
    expect(await statusFor(other, local, '127.0.0.1')).toBe(notAllowed);
    expect(lines.splice(0)).toEqual([refused, refused]);
    expect(socks.targets).toEqual([`site.test:${port}`]);
    expect(raw.connections).toBe(2);
    // Where there is neither, nobody asks whose a connection is.
    expect(await statusFor(other, neither, 'no-such-host.invalid')).toBe(notAllowed);
    expect(lines).toEqual(['egress: no-such-host.invalid does not resolve']);
  } finally {
    await Promise.all([proxied.close(), local.close(), neither.close(), socks.close()]);
  }
});
