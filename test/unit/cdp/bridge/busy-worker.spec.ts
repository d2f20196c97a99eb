import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { expect, test } from '@playwright/test';
import { BridgeFetcher } from '../../../../src/cdp/bridge/requests/bridge-fetch.ts';
import { openBridgeSocket } from '../../../../src/cdp/bridge/web-sockets/bridge-socket.ts';
import { startDevServer } from '../../../support/cdp/dev-server.ts';

/** Longer than Node waits for one address of several, in ms. */
const BUSY_MS = 400;

/** Keeps this process from seeing that a connection is made, once it is being made. */
function keepBusy(): void {
  setImmediate(() => {
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end);
  });
}

test('a request reaches a server on one address of localhost when the worker is busy as it connects', async () => {
  const server = await startDevServer();
  const fetcher = new BridgeFetcher(() => undefined);
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

test('a WebSocket does so, too', async () => {
  const server = await startDevServer();
  const options = { protocols: [], headers: {}, ignoreHTTPSErrors: false };
  try {
    const socket = openBridgeSocket(`${server.url.replace('http', 'ws')}/own`, options);
    keepBusy();
    await once(socket, 'open');
    socket.close();
    await once(socket, 'close');
  } finally {
    await server.close();
  }
});
