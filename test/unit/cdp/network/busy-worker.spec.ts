import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { expect, test } from '@playwright/test';
import { ProxyFetcher } from '../../../../src/cdp/network/send/fetcher.ts';
import { openWebSocket } from '../../../../src/cdp/network/websockets/open-websocket.ts';
import { startDevServer } from '../../../support/cdp/dev-server.ts';

/** Longer than Node waits for one of several addresses, in ms. */
const BUSY_MS = 400;

/** Blocks this process while a connection is being made, so that it sees the result late. */
function keepBusy(): void {
  setImmediate(() => {
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end);
  });
}

test('reaches a server on one address of localhost when the worker is busy while it connects', async () => {
  const server = await startDevServer();
  const fetcher = new ProxyFetcher();
  subscribe('undici:client:beforeConnect', keepBusy);
  try {
    const outcome = await fetcher.fetch({
      url: `${server.url}/echo`,
      method: 'GET',
      headers: {},
      body: null,
      ignoreHTTPSErrors: false,
      download: 'never',
      signal: new AbortController().signal,
    });
    expect(outcome).toMatchObject({ status: 200 });
  } finally {
    unsubscribe('undici:client:beforeConnect', keepBusy);
    fetcher.close();
    await server.close();
  }
});

test('reaches it with a WebSocket, too', async () => {
  const server = await startDevServer();
  const options = { protocols: [], headers: {}, ignoreHTTPSErrors: false, onRequest: () => undefined };
  try {
    const socket = openWebSocket(`${server.url.replace('http', 'ws')}/own`, options);
    keepBusy();
    await once(socket, 'open');
    socket.close();
    await once(socket, 'close');
  } finally {
    await server.close();
  }
});
