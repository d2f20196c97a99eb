import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test as base, expect } from '../../support/cdp/auto-fixtures.ts';
import { requiresFound } from '../../support/requires.ts';

/** Connections to a suite's own servers, as a local browser makes them. */

const test = base.extend<{ listen: (host: string, port?: number) => Promise<Server> }>({
  listen: async ({}, use) => {
    const servers: Server[] = [];
    await use(async (host, port = 0) => {
      const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(host));
      servers.push(server);
      await once(server.listen(port, host), 'listening');
      return server;
    });
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  },
});

test('has at most six connections to a server at once, in each context', async ({ newContext, listen }) => {
  const server = await listen('127.0.0.1');
  const { port } = server.address() as AddressInfo;
  let [open, most] = [0, 0];
  server.on('connection', (socket) => {
    open += 1;
    most = Math.max(most, open);
    socket.once('close', () => {
      open -= 1;
    });
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
  expect(most).toBeLessThanOrEqual(18);
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
