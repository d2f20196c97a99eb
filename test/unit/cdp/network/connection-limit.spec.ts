import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from '@playwright/test';
import { ProxyFetcher } from '../../../../src/cdp/network/send/fetcher.ts';

test('has at most six requests to a server at once, also when its idle connection ends as they begin', async () => {
  let [atOnce, most] = [0, 0];
  let idle: Socket | undefined;
  const server = createServer(({ url, socket }, response) => {
    if (url === '/first') {
      idle = socket;
      return response.end();
    }
    if (socket === idle) return socket.destroy();
    most = Math.max(most, ++atOnce);
    return setTimeout(() => {
      atOnce -= 1;
      response.end();
    }, 50);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;

  let idleEnded: Promise<unknown> | undefined;
  const fetcher = new ProxyFetcher(undefined, async (host, port) => {
    // While they connect, no connection is left.
    await idleEnded;
    const socket = connect(port, host);
    idleEnded ??= once(socket, 'close');
    await once(socket, 'connect');
    return socket;
  });
  const get = (path: string) =>
    fetcher.fetch({
      url: `http://127.0.0.1:${port}${path}`,
      method: 'GET',
      headers: {},
      body: null,
      ignoreHTTPSErrors: false,
      download: 'never',
      signal: new AbortController().signal,
    });
  const twenty = () => Promise.all(Array.from({ length: 20 }, () => get('/')));
  try {
    expect(await get('/first')).toMatchObject({ status: 200 });
    const before = twenty();
    await idleEnded;
    const outcomes = [...(await Promise.all([before, twenty()])).flat()];
    expect(outcomes.filter((outcome) => !('status' in outcome))).toEqual([]);
    expect(most).toBe(6);
  } finally {
    fetcher.close();
    server.close();
  }
});
