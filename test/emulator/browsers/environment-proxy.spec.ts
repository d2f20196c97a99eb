import { chromium } from '@playwright/test';
import { openTransport } from '../../../src/cdp/pipeline.ts';
import { ServiceClient } from '../../../src/service/index.ts';
import { startHttpProxy, type TestProxy } from '../../support/cdp/context-proxy.ts';
import { test as base, expect } from '../../support/emulator/fixtures.ts';

/**
 * Service and browser behind a proxy: their address is one that only the proxy knows, so nothing reaches them without
 * it.
 */

const test = base.extend<{
  /** Starts a proxy, and names it in the environment. */
  proxied: (given?: { credentials?: string; login?: string }) => Promise<TestProxy>;
  /** A client of an emulator behind the proxy. */
  client: () => Promise<ServiceClient>;
}>({
  proxied: async ({}, use) => {
    const { HTTP_PROXY } = process.env;
    const proxies: TestProxy[] = [];
    await use(async ({ credentials, login = credentials } = {}) => {
      const proxy = await startHttpProxy(credentials);
      proxies.push(proxy);
      process.env.HTTP_PROXY = `http://${login ? `${login}@` : ''}127.0.0.1:${proxy.port}`;
      return proxy;
    });
    if (HTTP_PROXY === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = HTTP_PROXY;
    for (const proxy of proxies) await proxy.close();
  },
  client: async ({ start }, use) => {
    const clients: ServiceClient[] = [];
    await use(async () => {
      const { baseURL, apiKey } = await start({ allowRemote: true });
      const client = new ServiceClient({ baseURL: baseURL.replace('127.0.0.1', '192.0.2.7'), apiKey, retry: 'none' });
      clients.push(client);
      return client;
    });
    for (const client of clients) await client.close();
  },
});

test('the service and its browsers are reached through the proxy of the environment', async ({ proxied, client }) => {
  const { seen } = await proxied({ credentials: 'me:s3cret%' });
  const { sessionId, cdpUrl } = await (await client()).createSession({});
  expect(cdpUrl).toContain('192.0.2.7');
  const browser = await chromium.connectOverCDP(await openTransport(String(cdpUrl), { sessionId }));
  const page = await browser.newPage();
  expect(await page.evaluate('6 * 7')).toBe(42);
  await browser.close();
  const to = new URL(String(cdpUrl)).host;
  const login = `Basic ${Buffer.from('me:s3cret%').toString('base64')}`;
  expect(new Set(seen)).toEqual(new Set([`CONNECT ${to} ${login}`]));
  // A connection of the client, and one to the browser.
  expect(seen.length).toBeGreaterThanOrEqual(2);
});

test('a proxy that wants another login is named in the error, without the password', async ({ proxied, client }) => {
  await proxied({ credentials: 'me:right', login: 'me:wr0ng' });
  const failed = await (await client()).listSessions({}).catch((error: Error) => error);
  expect(String(failed)).toMatch(
    /got no response from 192\.0\.2\.7:\d+ \(the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\) rejected the name and password in HTTP_PROXY \(HTTP 407\)\)/,
  );
  const other = await openTransport('ws://192.0.2.7:1/x', { sessionId: 's-1' }).catch((error: Error) => error);
  expect(String(other)).toMatch(
    /session s-1 at ws:\/\/192\.0\.2\.7:1: the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\) rejected the name and password in HTTP_PROXY/,
  );
  for (const error of [failed, other]) expect(JSON.stringify([String(error), error])).not.toContain('wr0ng');
});

test('a proxy that does not pass WebSockets on is named with a way out', async ({ proxied, client, site }) => {
  await proxied();
  await client();
  // A server that takes no WebSockets, as a proxy that reads along does.
  const address = site.url.replace(/^http:\/\/[^:]+/, 'ws://192.0.2.7');
  const failed = await openTransport(address, { sessionId: 's-1' }).catch((error: Error) => error);
  expect(String(failed)).toMatch(
    /at ws:\/\/192\.0\.2\.7:\d+ through the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\): .*\. If this proxy does not pass WebSockets on, list the host in NO_PROXY\./,
  );
});
