import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import { WebSocketServer } from 'ws';
import { Meter } from '../../../src/cdp/figures.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';

const MB = 1_000_000;

/** A site that counts the bytes it sends, to compare with the meter. */
class CountingSite {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];

  constructor() {
    const compressible = gzipSync(Buffer.from(Array.from({ length: 300_000 }, (_, i) => i).join(' ')));
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    const routes: Record<string, (response: ServerResponse) => void> = {
      '/': (response) => response.end('<!doctype html><link rel=icon href=data:,><title>site</title>'),
      '/big': (response) => response.end(Buffer.alloc(2 * MB, 'x')),
      '/gzip': (response) => response.setHeader('content-encoding', 'gzip').end(compressible),
      '/cached': (response) => response.setHeader('cache-control', 'max-age=600').end(Buffer.alloc(MB, 'x')),
      '/redirect': (response) => response.writeHead(302, { location: '/big', 'x-long': 'y'.repeat(8000) }).end(),
      '/endless': (response) => {
        const timer = setInterval(() => response.write(Buffer.alloc(100_000, 'x')), 20);
        response.once('close', () => clearInterval(timer));
      },
      '/worker.js': (response) =>
        response
          .setHeader('content-type', 'text/javascript')
          .end('fetch("/big").then((r) => r.text()).then(() => postMessage("done"))'),
      '/file': (response) =>
        response.setHeader('content-disposition', 'attachment; filename=file').end(Buffer.alloc(2 * MB, 'x')),
    };
    this.#server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      (routes[request.url ?? ''] ?? ((unknown) => unknown.writeHead(404).end()))(response);
    });
    this.#server.on('connection', (socket) => this.#sockets.push(socket));
    this.#server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (link) => {
        link.on('message', (data, binary) => link.send(data, { binary }));
      });
    });
    this.#server.listen(0, '127.0.0.1');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  sent(): number {
    return this.#sockets.reduce((sum, socket) => sum + socket.bytesWritten, 0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

interface Metered {
  counting: CountingSite;
  context: BrowserContext;
  page: Page;
  meter: Meter;
}

const test = base.extend<Metered>({
  counting: async ({}, use) => {
    const site = new CountingSite();
    await use(site);
    await site.close();
  },
  meter: async ({}, use) => await use(new Meter()),
  context: async ({ cdpUrl, open, meter }, use) => {
    const browser = await chromium.connectOverCDP(await open(cdpUrl, { meter }));
    await use(await browser.newContext());
  },
  page: async ({ context, counting }, use) => {
    const page = await context.newPage();
    await page.goto(counting.url);
    await use(page);
  },
});

/** Expects the meter to agree with the site within 2 % once everything has arrived. */
async function expectSame(meter: Meter, site: CountingSite, atLeast: number): Promise<void> {
  expect(site.sent()).toBeGreaterThan(atLeast);
  await expect.poll(() => Math.abs(meter.total() / site.sent() - 1)).toBeLessThan(0.02);
}

/** A page exchanges messages with the site. What it sends and receives counts once. */
async function expectFrames(page: Page, meter: Meter, site: CountingSite): Promise<void> {
  const before = { metered: meter.total(), sent: site.sent() };
  await page.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket(location.origin.replace('http', 'ws'));
    let echoed = 0;
    socket.onopen = () => { socket.send('ü'.repeat(500_000)); socket.send(new Uint8Array(1_000_000)); };
    socket.onmessage = () => { if (++echoed === 2) resolve(); };
  })`);
  // The site counts what it sends; it receives the same amount.
  const sent = site.sent() - before.sent;
  expect(sent).toBeGreaterThan(1.9 * MB);
  expect(Math.abs((meter.total() - before.metered) / (2 * sent) - 1)).toBeLessThan(0.02);
}

const TEXT = '.then((response) => response.text()).then((text) => text.length)';

test.describe('counts the bytes of', () => {
  test('documents, assets and compressed responses', async ({ page, counting, meter }) => {
    await page.goto(`${counting.url}/big`);
    await page.evaluate(`fetch('/gzip')${TEXT}`);
    await expectSame(meter, counting, 2.5 * MB);
  });

  test('redirects, including headers', async ({ page, counting, meter }) => {
    for (let round = 0; round < 3; round += 1) await page.goto(`${counting.url}/redirect`);
    await expectSame(meter, counting, 6 * MB);
    expect(meter.total()).toBeGreaterThan(6 * MB + 3 * 8000);
  });

  test('iframes and popups from their first byte on', async ({ page, counting, meter }) => {
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.onload = resolve;
      frame.src = '/big';
    })`);
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void window.open('/big')`)]);
    await popup.waitForLoadState();
    await expectSame(meter, counting, 4 * MB);
  });

  test('an iframe of another site, in a separate process', async ({ page, counting, meter }) => {
    const other = counting.url.replace('127.0.0.1', 'localhost');
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.onload = resolve;
      frame.src = '${other}/big';
    })`);
    await expectSame(meter, counting, 2 * MB);
  });

  test('workers', async ({ page, counting, meter }) => {
    await page.evaluate(`new Promise((resolve) => { new Worker('/worker.js').onmessage = resolve; })`);
    await expectSame(meter, counting, 2 * MB);
  });

  test('WebSocket frames in both directions', async ({ page, counting, meter }) => {
    await expectFrames(page, meter, counting);
  });

  test('downloads', async ({ page, counting, meter }) => {
    const link = `Object.assign(document.createElement('a'), { href: '/file' }).click()`;
    const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(link)]);
    await download.path();
    await expectSame(meter, counting, 2 * MB);
  });

  test('a cancelled request, as far as the browser has reported it', async ({ page, counting, meter }) => {
    const response = page.waitForResponse('**/endless');
    await page.evaluate(`void fetch('/endless')${TEXT}.catch(() => undefined)`);
    await response;
    await expect.poll(() => meter.total()).toBeGreaterThan(MB);
    await page.close();
    expect(meter.total()).toBeLessThanOrEqual(counting.sent() * 1.01);
  });

  test('all contexts of the browser', async ({ page, counting, meter }) => {
    const another = await page.context().browser()?.newContext();
    const [first, second] = [page, await another?.newPage()];
    await Promise.all([first.goto(`${counting.url}/big`), second?.goto(`${counting.url}/big`)]);
    await expectSame(meter, counting, 4 * MB);
  });

  test('each request once when a test listens, too', async ({ page, counting, meter }) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await page.goto(`${counting.url}/big`);
    await expectSame(meter, counting, 2 * MB);
    await expectFrames(page, meter, counting);
    await session.detach();
    const before = { metered: meter.total(), sent: counting.sent() };
    await page.goto(`${counting.url}/big`);
    await expect.poll(() => (meter.total() - before.metered) / (counting.sent() - before.sent)).toBeCloseTo(1, 1);
  });
});

test('counts no responses from the cache or from routes', async ({ page, counting, meter }) => {
  for (let round = 0; round < 3; round += 1) await page.evaluate(`fetch('/cached')${TEXT}`);
  await page.route('**/routed', (route) => route.fulfill({ body: Buffer.alloc(MB) }));
  await page.evaluate(`fetch('/routed')${TEXT}`);
  await page.evaluate(`fetch('data:text/plain,${'x'.repeat(10_000)}')${TEXT}`);
  await page.goto('about:version').catch(() => undefined);
  await expectSame(meter, counting, MB);
  expect(meter.total()).toBeLessThan(1.05 * MB);
});

test('agrees with the service’s own figure', async ({ start, open, counting, meter }) => {
  const { api } = await start({ allowLoopback: true });
  const { sessionId, cdpUrl } = (await api.create()).body;
  const browser = await chromium.connectOverCDP(await open(cdpUrl, { meter }));
  const page = await browser.newPage();
  for (let round = 0; round < 3; round += 1) await page.goto(`${counting.url}/big`);
  await api.stop(sessionId);
  const { bandwidthBytes } = (await api.session(sessionId)).body;
  // The service counts what was sent, too.
  expect(meter.total() / bandwidthBytes).toBeGreaterThan(0.95);
  expect(meter.total() / bandwidthBytes).toBeLessThan(1.001);
});
