import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test as base, expect } from '../../support/cdp/auto-fixtures.ts';
import { requiresFound } from '../../support/requires.ts';

/** Connections to a suite's own servers, as a local browser makes them. */

/** A server of the suite; unless `responds` is false, its pages say on which host. */
type Listen = (host: string, port?: number, responds?: boolean) => Promise<Server>;

const test = base.extend<{ listen: Listen }>({
  listen: async ({}, use) => {
    const servers: Server[] = [];
    await use(async (host, port = 0, responds = true) => {
      const server = createServer();
      if (responds) server.on('request', (_, response) => response.setHeader('content-type', 'text/html').end(host));
      servers.push(server);
      await once(server.listen(port, host), 'listening');
      return server;
    });
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  },
});

test('has at most six requests to a server at once, in each context', async ({ newContext, listen }) => {
  const server = await listen('127.0.0.1', 0, false);
  const { port } = server.address() as AddressInfo;
  const held: ServerResponse[] = [];
  let most = 0;
  const release = () => {
    for (const response of held.splice(0)) response.end('x');
  };
  server.on('request', ({ url }, response: ServerResponse) => {
    if (url === '/') return response.setHeader('content-type', 'text/html').end();
    held.push(response);
    most = Math.max(most, held.length);
    // Once there are six, others may still arrive. The last ones are fewer.
    if (held.length === 6) setTimeout(release, 50);
    else if (held.length === 1) setTimeout(release, 2_000);
    return undefined;
  });
  const visit = async () => {
    const page = await (await newContext()).newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    return page;
  };
  const fetchAll = `Promise.all(Array.from({ length: 60 }, (_, n) => fetch('/' + n).then((answer) => answer.text())))`;
  const page = await visit();
  expect(await page.evaluate(fetchAll)).toHaveLength(60);
  expect(most).toBe(6);
  const pages = await Promise.all([visit(), visit()]);
  for (const all of await Promise.all(pages.map((each) => each.evaluate<string[]>(fetchAll))))
    expect(all).toHaveLength(60);
  expect(most).toBeGreaterThan(6);
  expect(most).toBeLessThanOrEqual(12);
});

test('tries `localhost` over IPv6 first', async ({ newContext, listen }) => {
  requiresFound(
    'IPv6',
    Object.values(networkInterfaces())
      .flat()
      .some((each) => each?.address === '::1'),
  );
  const { port } = (await listen('::1')).address() as AddressInfo;
  const page = await (await newContext()).newPage();
  await page.goto(`http://localhost:${port}/`);
  expect(await page.textContent('body')).toBe('::1');
  await listen('127.0.0.1', port);
  await page.reload();
  expect(await page.textContent('body')).toBe('::1');
});

test('leaves ports that browsers block to the browser, and says what it says', async ({ newContext, own }) => {
  const context = await newContext();
  const visit = async (url: string) => (await context.newPage()).goto(url);
  for (const host of ['localhost', '127.0.0.1'])
    await expect(visit(`http://${host}:6000/`)).rejects.toThrow(/net::ERR_UNSAFE_PORT/);
  const page = await context.newPage();
  await page.goto(own.url);
  const failed = page.waitForEvent('requestfailed');
  await expect(page.evaluate(`fetch('http://localhost:6000/')`)).rejects.toThrow(/Failed to fetch/);
  expect((await failed).failure()?.errorText).toBe('net::ERR_UNSAFE_PORT');
  // A port that nobody listens on is refused.
  await expect(visit('http://localhost:1023/')).rejects.toThrow(/net::ERR_CONNECTION_REFUSED/);
});
