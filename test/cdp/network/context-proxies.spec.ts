import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from '@playwright/test';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { clientCertificate, startHttpProxy, startSocksProxy, type TestProxy } from '../../support/cdp/context-proxy.ts';
import { type DevServer, selfSigned, startDevServer } from '../../support/cdp/dev-server.ts';
import { test as base, expect } from '../../support/cdp/puppeteer.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requiresFound } from '../../support/requires.ts';

/** What belongs to a context, as in a local browser: its proxy and its client certificates. */

interface Ways {
  /** The same Playwright on a browser that reaches this machine, and on one that reaches it through the proxy. */
  ways: { local: Browser; proxied: Browser };
  /** Runs it in a new context on both. */
  bothWays: <T>(
    options: BrowserContextOptions,
    look: (context: BrowserContext) => Promise<T>,
  ) => Promise<{ local: T; proxied: T }>;
}

const test = base.extend<Ways>({
  ways: async ({ browserUrl, open }, use) => {
    const connect = async (isLocal: boolean) =>
      await chromium.connectOverCDP(
        await open(await browserUrl(isLocal), {
          ...(!isLocal && { proxiedHosts: parseNetworkRules('<loopback>') }),
          originsOfProxy: (server) => (server.startsWith('socks5://127.0.0.1') ? [] : null),
        }),
      );
    const [local, proxied] = await Promise.all([connect(true), connect(false)]);
    await use({ local, proxied });
    await Promise.all([local.close(), proxied.close()]);
  },
  bothWays: async ({ ways }, use) => {
    await use(async (options, look) => {
      const go = async (browser: Browser) => {
        const context = await browser.newContext(options);
        try {
          return await look(context);
        } finally {
          await context.close();
        }
      };
      return { local: await go(ways.local), proxied: await go(ways.proxied) };
    });
  },
});

/** The failure of a navigation, or the text of its page and the status. */
async function visit(context: BrowserContext, url: string): Promise<unknown> {
  const page = await context.newPage();
  return await visitIn(page, url).finally(() => page.close());
}

async function visitIn(page: Page, url: string): Promise<unknown> {
  try {
    const response = await page.goto(url);
    return [response?.status(), await page.locator('body').innerText()];
  } catch (error) {
    return /net::\w+/.exec((error as Error).message)?.[0];
  }
}

test.describe('client certificates', () => {
  const [ada, bob] = [clientCertificate('ada'), clientCertificate('bob')];
  let server: Server;
  let origin: string;

  test.beforeAll(async () => {
    const certificate = selfSigned();
    server = createServer({ ...certificate, requestCert: true, rejectUnauthorized: false, ca: [ada.cert] });
    server.on('request', (request, response) => {
      const socket = request.socket as TLSSocket;
      const { subject } = socket.getPeerCertificate();
      response.setHeader('content-type', 'text/html').end(`${subject?.CN ?? 'nobody'} ${socket.authorized}`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  });

  test.afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const certificates = (): Record<string, NonNullable<BrowserContextOptions['clientCertificates']>> => ({
    'cert and key': [{ origin, cert: ada.cert, key: ada.key }],
    'pfx and passphrase': [{ origin, pfx: ada.pfx, passphrase: ada.passphrase }],
    'one that the server does not trust': [{ origin, cert: bob.cert, key: bob.key }],
    'another origin': [{ origin: origin.replace('localhost', '127.0.0.1'), cert: ada.cert, key: ada.key }],
    'several origins': [
      { origin: 'https://localhost', cert: bob.cert, key: bob.key },
      { origin, cert: ada.cert, key: ada.key },
    ],
  });

  // Which origin gets which one is a comparison of text.
  for (const [name, isSlow] of [
    ['cert and key', false],
    ['pfx and passphrase', false],
    ['one that the server does not trust', true],
    ['another origin', false],
    ['several origins', true],
  ] as const) {
    test(`presents client certificates as a local browser does: ${name}`, slowIf(isSlow), async ({ bothWays }) => {
      const clientCertificates = certificates()[name];
      const seen = await bothWays({ clientCertificates, ignoreHTTPSErrors: true }, async (context) => [
        await visit(context, origin),
        await (await context.request.get(origin)).text(),
      ]);
      expect(seen.proxied).toEqual(seen.local);
      if (name === 'cert and key') expect(seen.local).toEqual([[200, 'ada true'], 'ada true']);
    });
  }

  test('reports an untrusted server as a local browser does', async ({ bothWays }) => {
    const clientCertificates = certificates()['cert and key'];
    const seen = await bothWays({ clientCertificates }, async (context) => await visit(context, origin));
    expect(seen.proxied).toEqual(seen.local);
    expect(String(seen.local)).toContain('self-signed certificate');
  });

  test('does not present the certificates of one context in another', async ({ ways }) => {
    const [own, other] = await Promise.all([
      ways.proxied.newContext({ clientCertificates: certificates()['cert and key'], ignoreHTTPSErrors: true }),
      ways.proxied.newContext({ ignoreHTTPSErrors: true }),
    ]);
    for (const [context, text] of [
      [own, 'ada true'],
      [other, 'nobody false'],
      [own, 'ada true'],
    ] as const) {
      expect(await visit(context, origin)).toEqual([200, text]);
    }
    await Promise.all([own.close(), other.close()]);
  });
});

test.describe('the proxy of a context', () => {
  const SERVERS: Record<string, { secure: boolean }> = { 'http:': { secure: false }, 'https:': { secure: true } };
  const PROXIES: Record<string, { start: () => Promise<TestProxy>; settings: (port: number) => object }> = {
    http: { start: () => startHttpProxy(), settings: (port) => ({ server: `localhost:${port}` }) },
    'http with name and password': {
      start: async () => await startHttpProxy('ada:se cret'),
      settings: (port) => ({ server: `http://127.0.0.1:${port}`, username: 'ada', password: 'se cret' }),
    },
    'http with a wrong password': {
      start: async () => await startHttpProxy('ada:se cret'),
      settings: (port) => ({ server: `http://127.0.0.1:${port}`, username: 'ada', password: 'wrong' }),
    },
    'http that wants a password': {
      start: async () => await startHttpProxy('ada:se cret'),
      settings: (port) => ({ server: `http://127.0.0.1:${port}` }),
    },
    socks5: { start: startSocksProxy, settings: (port) => ({ server: `socks5://localhost:${port}` }) },
    'bypassed for the host': {
      start: () => startHttpProxy(),
      settings: (port) => ({ server: `http://localhost:${port}`, bypass: 'example.com, localhost' }),
    },
    'bypassed for another port': {
      start: () => startHttpProxy(),
      settings: (port) => ({ server: `http://localhost:${port}`, bypass: '*:1, .localhost, 10.0.0.0/8' }),
    },
    'https with an untrusted certificate': {
      start: async () => await startHttpProxy(undefined, selfSigned()),
      settings: (port) => ({ server: `https://localhost:${port}` }),
    },
    'without a listener': {
      start: async () => {
        const proxy = await startHttpProxy();
        await proxy.close();
        return { ...proxy, close: async () => undefined };
      },
      settings: (port) => ({ server: `http://localhost:${port}` }),
    },
  };

  /** A request over TLS and one without differ in what they ask their proxy; who is asked is decided before that. */
  const OVER_TLS = /^(socks5|bypassed for|https with|without a listener)/;
  for (const [protocol, { secure }] of Object.entries(SERVERS)) {
    for (const [name, { start, settings }] of Object.entries(PROXIES)) {
      // A local Chromium never ends such a navigation.
      if (secure && / password$/.test(name) && !name.endsWith('name and password')) continue;
      test(
        `takes ${protocol} requests as in a local browser: ${name}`,
        slowIf(!secure && OVER_TLS.test(name)),
        async ({ bothWays }) => {
          const dev = await startDevServer({ secure });
          const proxy = await start();
          try {
            const options = { proxy: settings(proxy.port) as { server: string }, ignoreHTTPSErrors: true };
            const { local, proxied } = await bothWays(options, async (context) => {
              proxy.seen.length = 0;
              const page = await context.newPage();
              const seen = [await visitIn(page, `${dev.url}/stream`), await socketOf(page, dev)];
              return [...seen, [...new Set(proxy.seen)]];
            });
            expect(proxied).toEqual(local);
          } finally {
            await proxy.close();
            await dev.close();
          }
        },
      );
    }
  }
});

test.describe('hosts that are not proxied', () => {
  const options = (port: number): BrowserContextOptions => ({ proxy: { server: `http://localhost:${port}` } });

  test("are not reached from a context whose proxy is this machine's", async ({ browserUrl, open }) => {
    const [dev, proxy] = await Promise.all([startDevServer(), startHttpProxy()]);
    const transport = await open(await browserUrl(true), { proxiedHosts: parseNetworkRules('app.localhost') });
    const browser = await chromium.connectOverCDP(transport);
    const context = await browser.newContext(options(proxy.port));
    expect(await visit(context, dev.url)).toBe('net::ERR_PROXY_CONNECTION_FAILED');
    expect([proxy.seen, dev.requests]).toEqual([[], []]);
    expect(await visit(context, dev.url.replace('localhost', 'app.localhost'))).toContain(200);
    expect(proxy.seen).not.toEqual([]);
    await browser.close();
    await Promise.all([proxy.close(), dev.close()]);
  });

  test("are reached directly from a context whose proxy is the client's own", async ({ browserUrl, open }) => {
    const [dev, proxy] = await Promise.all([startDevServer(), startHttpProxy()]);
    const rules = { proxiedHosts: parseNetworkRules('app.localhost'), originsOfProxy: () => [] };
    const browser = await chromium.connectOverCDP(await open(await browserUrl(true), rules));
    const context = await browser.newContext(options(proxy.port));
    expect(await visit(context, dev.url)).toContain(200);
    expect(proxy.seen).toEqual([]);
    await browser.close();
    await Promise.all([proxy.close(), dev.close()]);
  });
});

test.describe('hosts elsewhere', () => {
  /** The browser cannot reach it; a proxy on this machine can. */
  const ELSEWHERE = '192.0.2.77';
  const auto = { onVisit: () => undefined };

  test("are reached through the context's proxy on this machine, but for those that bypass it", async ({
    browserUrl,
    open,
  }) => {
    const [dev, proxy] = await Promise.all([startDevServer(), startHttpProxy()]);
    const browser = await chromium.connectOverCDP(await open(await browserUrl(false), { auto }));
    const server = `http://localhost:${proxy.port}`;
    const context = await browser.newContext({ proxy: { server, bypass: 'bypassed.example,.local' } });
    const there = { ...dev, url: dev.url.replace('localhost', ELSEWHERE) };
    expect(await visit(context, `${there.url}/status?code=201`)).toEqual([201, 'status 201']);
    expect(await socketOf(await context.newPage(), there)).toBe('open');
    expect(proxy.seen).toEqual(expect.arrayContaining([`CONNECT ${ELSEWHERE}:${dev.port}`]));
    const page = await context.newPage();
    await page.goto(`${there.url}/page`);
    const fetched = await page.evaluate(`new Promise((resolve) => {
      const worker = new Worker('/worker.js');
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage('/status?code=200');
    })`);
    expect(fetched).toBe('status 200');
    const before = proxy.seen.length;
    expect(await visit(context, `http://bypassed.example:${dev.port}/`)).toMatch(/net::ERR_(?!PROXY)/);
    expect(proxy.seen).toHaveLength(before);
    // Other contexts do not use it.
    const other = await browser.newContext();
    expect(await visit(other, there.url)).toMatch(/^net::ERR/);
    expect(proxy.seen).toHaveLength(before);
    await browser.close();
    await Promise.all([proxy.close(), dev.close()]);
  });

  test('reach no server on loopback through it, by any request', async ({ browserUrl, open }) => {
    const [dev, foreign, proxy] = await Promise.all([startDevServer(), startDevServer(), startHttpProxy()]);
    const denied: string[] = [];
    const onDenied = (url: string) => denied.push(url);
    const browser = await chromium.connectOverCDP(await open(await browserUrl(false), { auto: { ...auto, onDenied } }));
    const context = await browser.newContext({ proxy: { server: `http://localhost:${proxy.port}` } });
    const elsewhere = foreign.url.replace('localhost', ELSEWHERE);
    const hostile = `(async () => {
      const urls = [${['localhost', '127.0.0.1', '[::ffff:127.0.0.1]', 'a.localhost'].map((host) => `'http://${host}:${dev.port}/stolen'`)}];
      for (const url of urls) {
        await fetch(url, { mode: 'no-cors' }).catch(() => 0);
        await fetch('/redirect?to=' + encodeURIComponent(url), { mode: 'no-cors' }).catch(() => 0);
        await new Promise((resolve) => Object.assign(new Image(), { onload: resolve, onerror: resolve, src: url }));
        await new Promise((resolve) => {
          const socket = new WebSocket(url.replace('http', 'ws'));
          socket.onopen = socket.onerror = resolve;
        });
        await new Promise((resolve) => {
          const frame = Object.assign(document.createElement('iframe'), { onload: resolve, src: url });
          document.body.append(frame);
        });
      }
      return urls.length;
    })()`;
    const page = await context.newPage();
    await page.goto(`${elsewhere}/page`);
    expect(await page.evaluate(hostile)).toBe(4);
    // Also after the test has visited the server.
    const own = await context.newPage();
    await own.goto(`${dev.url}/page`);
    expect(await page.evaluate(hostile)).toBe(4);
    // Its own page reaches it, but not by way of another server.
    const there = `${elsewhere}/redirect?to=${encodeURIComponent(`${dev.url}/stolen`)}`;
    expect(await own.evaluate((url) => fetch(url, { mode: 'no-cors' }).catch(() => 'failed'), there)).toBe('failed');
    const back = `/redirect?to=${encodeURIComponent(there)}`;
    expect(await own.evaluate((url) => fetch(url, { mode: 'no-cors' }).catch(() => 'failed'), back)).toBe('failed');
    expect(await own.evaluate(async () => (await fetch('/status?code=200')).text())).toBe('status 200');
    expect(dev.requests.filter(({ path }) => path === '/stolen')).toEqual([]);
    expect(dev.upgrades).toEqual([]);
    expect(denied).toContain(`http://localhost:${dev.port}/stolen`);
    await browser.close();
    await Promise.all([proxy.close(), foreign.close(), dev.close()]);
  });

  test('get client certificates from this machine', async ({ browserUrl, open }) => {
    const ada = clientCertificate('ada');
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const address = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
    requiresFound('a network interface', address !== undefined);
    const server = createServer({ ...selfSigned(), requestCert: true, rejectUnauthorized: false, ca: [ada.cert] });
    server.on('request', ({ socket }, response) => {
      response.setHeader('content-type', 'text/html').end(String((socket as TLSSocket).authorized));
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const origin = `https://${address}:${(server.address() as AddressInfo).port}`;
    const originsOfProxy = (proxy: string) => (proxy.startsWith('socks5://127.0.0.1') ? [origin] : null);
    const browser = await chromium.connectOverCDP(await open(await browserUrl(false), { auto, originsOfProxy }));
    const clientCertificates = [{ origin, cert: ada.cert, key: ada.key }];
    const context = await browser.newContext({ clientCertificates, ignoreHTTPSErrors: true });
    expect(await visit(context, origin)).toEqual([200, 'true']);
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
});

test("uses the proxy of Puppeteer's context", async ({ browserUrl, connectPuppeteer }) => {
  const [dev, proxy] = await Promise.all([startDevServer(), startHttpProxy('ada:se cret')]);
  const rules = { proxiedHosts: parseNetworkRules('<loopback>') };
  const browser = await connectPuppeteer(await browserUrl(false), rules);
  for (const bypass of [['<-loopback>'], []]) {
    proxy.seen.length = 0;
    const context = await browser.createBrowserContext({
      proxyServer: `http://127.0.0.1:${proxy.port}`,
      proxyBypassList: bypass,
    });
    const page = await context.newPage();
    await page.authenticate({ username: 'ada', password: 'se cret' });
    expect((await page.goto(`${dev.url}/stream`))?.status()).toBe(200);
    // Without the rule, Chromium connects to loopback directly.
    expect(proxy.seen.length > 0).toBe(bypass.length > 0);
    await context.close();
  }
  await Promise.all([proxy.close(), dev.close()]);
});

test('ends a request when the proxy refuses its password', async ({ ways }) => {
  const dev = await startDevServer({ secure: true });
  const proxy = await startHttpProxy('ada:se cret');
  const server = `http://localhost:${proxy.port}`;
  for (const own of [{}, { username: 'ada', password: 'wrong' }]) {
    const context = await ways.proxied.newContext({ proxy: { server, ...own }, ignoreHTTPSErrors: true });
    expect(await visit(context, dev.url)).toBe('net::ERR_TUNNEL_CONNECTION_FAILED');
    await context.close();
  }
  await proxy.close();
  await dev.close();
});

/** Whether a page's WebSocket opens. */
async function socketOf(page: Page, dev: DevServer): Promise<unknown> {
  try {
    await page.goto(`${dev.url}/page`);
    return await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const socket = new WebSocket(url);
          socket.onopen = () => resolve('open');
          socket.onerror = () => resolve('failed');
        }),
      dev.url.replace('http', 'ws'),
    );
  } catch {
    return 'no page';
  }
}
