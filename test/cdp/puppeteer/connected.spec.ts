import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import puppeteer, { type ConnectionTransport } from 'puppeteer-core';
import { WebSocket } from 'ws';
import { Meter, Savings } from '../../../src/cdp/figures.ts';
import { ProxiedTraffic } from '../../../src/cdp/network/send/proxied-traffic.ts';
import { asPuppeteerTransport } from '../../../src/clients/puppeteer/transport.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startDevServer } from '../../support/cdp/dev-server.ts';
import { expect, test } from '../../support/cdp/puppeteer.ts';

/** What Puppeteer sees of a hosted browser, and its effects on one. */

test('hides existing pages, and shows new ones, including popups', async ({ cdpUrl, connectPuppeteer }) => {
  const other = await puppeteer.connect({ browserWSEndpoint: cdpUrl });
  const foreign = await other.newPage();
  await foreign.goto('data:text/html,<title>foreign</title>');
  const browser = await connectPuppeteer(cdpUrl);
  expect(await browser.pages()).toEqual([]);
  expect(browser.targets().filter((target) => target.type() === 'page')).toEqual([]);
  const page = await browser.newPage();
  expect(page.viewport()).toBe(null);
  const [popup] = await Promise.all([
    new Promise<unknown>((resolve) => page.once('popup', resolve)),
    page.evaluate(`void open('about:blank')`),
  ]);
  expect(popup).not.toBe(null);
  expect(await browser.pages()).toHaveLength(2);
  // Events of a hidden page stay hidden.
  await foreign.goto('data:text/html,<title>elsewhere</title>');
  await foreign.close();
  expect(await browser.pages()).toHaveLength(2);
  await other.disconnect();
});

test('works while a test has replaced timers and clocks', async ({ cdpUrl, connectPuppeteer, site }) => {
  const browser = await connectPuppeteer(cdpUrl);
  const page = await browser.newPage();
  const { setTimeout, setInterval, setImmediate, Date: RealDate } = globalThis;
  const neverCalled = () => ({ ref: () => undefined, unref: () => undefined });
  Object.assign(globalThis, { setTimeout: neverCalled, setInterval: neverCalled, setImmediate: neverCalled });
  globalThis.Date = class extends RealDate {
    static override now = () => 0;
  } as DateConstructor;
  try {
    await page.goto(site.url);
    expect(await page.evaluate(() => 1 + 1)).toBe(2);
    await page.setContent('<button onclick="document.title = 1">Go</button>');
    await page.click('button');
    expect(await page.title()).toBe('1');
    await page.close();
  } finally {
    Object.assign(globalThis, { setTimeout, setInterval, setImmediate, Date: RealDate });
  }
});

test('exchanges with a near browser exactly what Puppeteer sends and gets', async ({ cdpUrl, open, serve, site }) => {
  const commands: Record<'Puppeteer' | 'browser', string[]> = { Puppeteer: [], browser: [] };
  const messages: typeof commands = { Puppeteer: [], browser: [] };
  const server = await serve((link) => {
    const inner = new WebSocket(cdpUrl, { perMessageDeflate: false });
    const opened = once(inner, 'open');
    link.on('message', async (data) => {
      commands.browser.push(String(data));
      await opened;
      inner.send(String(data));
    });
    inner.on('message', (data) => {
      messages.browser.push(String(data));
      link.send(String(data));
    });
    link.once('close', () => inner.close());
  });
  // Every distance is near.
  const savings = new Savings(Number.POSITIVE_INFINITY);
  const transport = await open(server.cdpUrl, { client: 'puppeteer', ahead: true, sharesBrowser: true, savings });
  const adapted = asPuppeteerTransport(transport);
  const recorded: ConnectionTransport = {
    send: (text) => {
      commands.Puppeteer.push(text);
      adapted.send(text);
    },
    close: () => adapted.close(),
  };
  adapted.onmessage = (text) => {
    messages.Puppeteer.push(text);
    recorded.onmessage?.(text);
  };
  const browser = await puppeteer.connect({ transport: recorded, defaultViewport: null });
  for (let number = 0; number < 2; number += 1) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.goto(site.url);
    await page.setContent('<h1>Form</h1><button>Send</button>');
    const [before, beforeInBrowser] = [commands.Puppeteer.length, commands.browser.length];
    const got = messages.Puppeteer.length;
    expect(await page.$eval('h1', (heading) => heading.textContent)).toBe('Form');
    await page.waitForSelector('button');
    await page.click('button');
    expect(await page.evaluate('6 * 7')).toBe(42);
    expect(commands.browser.slice(beforeInBrowser)).toEqual(commands.Puppeteer.slice(before));
    expect(messages.browser).toEqual(expect.arrayContaining(messages.Puppeteer.slice(got)));
    await context.close();
  }
  await browser.disconnect();
});

test('removes a closed page, and a context with its pages', async ({ cdpUrl, connectPuppeteer }) => {
  const browser = await connectPuppeteer(cdpUrl);
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto('data:text/html,<title>one</title>');
  await context.newPage();
  expect(await context.pages()).toHaveLength(2);
  await page.close();
  expect(await context.pages()).toHaveLength(1);
  await context.close();
  expect(await browser.pages()).toEqual([]);
});

test('disconnects on browser.close(), without ending the browser', async ({ cdpUrl, connectPuppeteer }) => {
  const browser = await connectPuppeteer(cdpUrl);
  await browser.close();
  expect(browser.connected).toBe(false);
  const again = await connectPuppeteer(cdpUrl);
  expect(await again.version()).toContain('Chrome');
});

test('disconnects Puppeteer when the connection is cut, with no address in an error', async ({ cdpUrl, open }) => {
  const transport = await open(cdpUrl, { client: 'puppeteer' });
  const browser = await puppeteer.connect({ transport: asPuppeteerTransport(transport) });
  const page = await browser.newPage();
  const waiting = page.waitForFunction('false').catch((error: unknown) => error);
  transport.close();
  const error = await waiting;
  expect(error).toBeInstanceOf(Error);
  const { host, pathname } = new URL(cdpUrl);
  expect(String((error as Error).stack)).not.toContain(host);
  expect(String((error as Error).stack)).not.toContain(pathname);
});

test('counts the bytes of its pages, and proxies loopback addresses for them', async ({ start, connectPuppeteer }) => {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/big') return response.end('x'.repeat(100_000));
    return response.end(
      '<title>here</title><script>fetch("/big").then((r) => r.text()).then((t) => { document.title = t.length; })</script>',
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // Without `allowLoopback`, the proxy is the only way to reach it.
  const { api } = await start({});
  const { cdpUrl } = (await api.create()).body;
  const meter = new Meter();
  const traffic = new ProxiedTraffic();
  const browser = await connectPuppeteer(cdpUrl, {
    meter,
    proxiedHosts: parseNetworkRules('<loopback>'),
    traffic,
  });
  const page = await browser.newPage();
  const response = await page.goto(url);
  expect(response?.status()).toBe(200);
  await page.waitForFunction('document.title === "100000"');
  expect(traffic.total().received).toBeGreaterThan(100_000);
  // In a frame, and with the page's own interception enabled.
  await page.setRequestInterception(true);
  page.on('request', (request) => void request.continue());
  await page.goto(`${url}?again`);
  await page.waitForFunction('document.title === "100000"');
  // A port that browsers block, and one on which nothing listens.
  for (const [port, reason] of [
    [6000, 'net::ERR_UNSAFE_PORT'],
    [1023, 'net::ERR_CONNECTION_REFUSED'],
  ] as const)
    await expect((await browser.newPage()).goto(`http://localhost:${port}/`)).rejects.toThrow(reason);
  await browser.disconnect();
  server.close();
  server.closeAllConnections();
});

for (const how of ['listed', 'auto'] as const) {
  test(`applies \`acceptInsecureCerts\` to proxied requests, ${how}`, async ({ start, connectPuppeteer }) => {
    const server = await startDevServer({ secure: true });
    const { api } = await start({});
    const { cdpUrl } = (await api.create()).body;
    const told = { onVisit: () => undefined, onDenied: () => undefined };
    const reach = how === 'listed' ? { proxiedHosts: parseNetworkRules('<loopback>') } : { auto: told };
    const trusting = await connectPuppeteer(cdpUrl, reach, { acceptInsecureCerts: true });
    const page = await trusting.newPage();
    expect((await page.goto(server.url))?.status()).toBe(200);
    // Also on the second page, which opens when a proxy already exists.
    const second = await trusting.newPage();
    expect((await second.goto(server.url))?.status()).toBe(200);
    await trusting.disconnect();
    const strict = await connectPuppeteer(cdpUrl, reach);
    const third = await strict.newPage();
    await expect(third.goto(server.url)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await server.close();
  });
}
