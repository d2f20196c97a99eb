import type { Page } from '@playwright/test';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

/**
 * Runs in a page: tries every function that a fresh window does not have as if it were the proxy's, to open a WebSocket
 * to `address` in the name of `origin`, for `ms`. Returns the names it found.
 */
const ATTACK = `async (target, address, origin, ms = 500) => {
  const fresh = document.body.appendChild(document.createElement('iframe'));
  const known = new Set(Object.getOwnPropertyNames(fresh.contentWindow).concat(Object.getOwnPropertyNames(window)));
  fresh.remove();
  const found = new Set();
  const end = performance.now() + ms;
  while (performance.now() < end) {
    for (const name of Object.getOwnPropertyNames(target)) {
      if (!/^network/.test(name)) continue;
      found.add(name.slice(0, 7));
      for (const id of [1, 2, 3]) target[name](JSON.stringify({ op: 'open', id, url: address, protocols: [], origin, userAgent: 'hostile' }));
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return [...found];
}`;

const attack = (page: Page, target: string, port: number) =>
  page.evaluate(`(${ATTACK})(${target}, 'ws://${LISTED}:${port}/stolen', 'http://${LISTED}:${port}')`);

/**
 * The WebSockets that a server received; the last one is the listed page's own and proves that earlier ones have
 * arrived.
 */
async function upgrades(page: Page, dev: DevServer): Promise<string[]> {
  await page.goto(`http://${LISTED}:${dev.port}/`);
  await page.evaluate(`new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://' + location.host + '/own');
    socket.onmessage = resolve;
    socket.onerror = reject;
  })`);
  return dev.upgrades.map(({ path }) => path);
}

test.describe("a test's own session", () => {
  test("keeps the test's routes active", async ({ far, dev }) => {
    const page = await far.newPage();
    await page.route('**/echo', (route) => route.fulfill({ body: 'mine' }));
    await page.goto(`http://${LISTED}:${dev.port}/`);
    const session = await far.newCDPSession(page);
    expect(await page.evaluate(async () => (await fetch('/echo')).text())).toBe('mine');
    await session.send('Network.enable');
    expect(await page.evaluate(async () => (await fetch('/echo')).text())).toBe('mine');
    await session.detach();
    expect(await page.evaluate(async () => (await fetch('/echo')).text())).toBe('mine');
    expect(dev.seen('/echo')).toBeUndefined();
  });

  test('opens no second WebSocket', async ({ far, dev }) => {
    const page = await far.newPage();
    const session = await far.newCDPSession(page);
    await session.send('Runtime.enable');
    await page.goto(`http://${LISTED}:${dev.port}/`);
    await page.evaluate(`new Promise((resolve, reject) => {
      const socket = new WebSocket('ws://' + location.host);
      socket.onmessage = ({ data }) => data === 'again' ? resolve() : socket.send('again');
      socket.onerror = reject;
    })`);
    expect(dev.sockets()).toBe(1);
  });

  test('keeps ignoreHTTPSErrors, and can take the page offline', async ({ proxied, secure }) => {
    const context = await proxied('<loopback>', { ignoreHTTPSErrors: true });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await page.goto(secure.url);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: true,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await expect(page.goto(secure.url)).rejects.toThrow('net::ERR_INTERNET_DISCONNECTED');
    await session.detach();
    await page.goto(secure.url);
  });

  test('intercepts requests to listed hosts like all others', async ({ far, dev, other }) => {
    const page = await far.newPage();
    const session = await far.newCDPSession(page);
    const asked: string[] = [];
    session.on('Fetch.requestPaused', async ({ requestId, request }) => {
      asked.push(new URL(request.url).port);
      await session.send('Fetch.continueRequest', { requestId });
    });
    await session.send('Fetch.enable', { patterns: [{ urlPattern: '*://*/echo' }] });
    await page.goto(`http://${LISTED}:${dev.port}/echo`);
    await page.goto(`http://localhost:${other.port}/echo`);
    expect(asked).toEqual([String(dev.port), String(other.port)]);
  });
});

test.describe('gives a page that is not listed no access to the proxy', () => {
  test('when the test opens a session on it', async ({ far, dev, other }) => {
    const page = await far.newPage();
    await page.goto(`http://localhost:${other.port}/`);
    const session = await far.newCDPSession(page);
    await session.send('Runtime.enable');
    expect(await attack(page, 'window', dev.port)).toEqual([]);
    expect(dev.requests).toEqual([]);
    expect(await upgrades(page, dev)).toEqual(['/own']);
  });

  test('through an empty popup', async ({ far, dev, other }) => {
    const page = await far.newPage();
    await page.goto(`http://localhost:${other.port}/`);
    // The function is visible there, but its messages are ignored.
    await attack(page, `open('about:blank')`, dev.port);
    expect(dev.requests).toEqual([]);
    expect(await upgrades(page, dev)).toEqual(['/own']);
  });

  test('from the same site, next to a listed page', async ({ far, dev, other }) => {
    const page = await far.newPage();
    await page.goto(`http://evil.listed.localhost:${other.port}/`);
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<iframe src="http://${LISTED}:${dev.port}/"></iframe><iframe></iframe><iframe srcdoc="x"></iframe>')`,
    );
    await expect.poll(() => dev.requests.length).toBeGreaterThan(0);
    const session = await far.newCDPSession(page);
    await session.send('Runtime.enable');
    for (const target of ['window', 'frames[1]', 'frames[2]']) expect(await attack(page, target, dev.port)).toEqual([]);
    expect(await upgrades(page, dev)).toEqual(['/own']);
  });
});
