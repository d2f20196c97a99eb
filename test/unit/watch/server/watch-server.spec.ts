import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import type { WatchedRuns } from '../../../../src/broker/watch/view.ts';
import { startWatchServer, type WatchServer } from '../../../../src/watch/server/watch-server.ts';

/** Requests of a browser that has the cookie. */

const NO_RUNS: WatchedRuns = {
  all: [],
  onChange: () => () => undefined,
  onPicture: () => () => undefined,
  close: async () => undefined,
};

/** `fetch` would normalize the address. */
async function request(port: number, path: string, cookie = '') {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers: { cookie, host: `127.0.0.1:${port}` } }, resolve).on('error', reject);
  });
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** The page's address and cookie. */
async function entered({ port, address }: WatchServer) {
  const { headers, body } = await request(port, new URL(address('test')).pathname);
  return { base: String(/url=(\S+?)"/.exec(body)?.[1]), cookie: String(headers['set-cookie']?.[0]).replace(/;.*/, '') };
}

test('responds with 404 to names that every object has', async () => {
  const server = await startWatchServer(NO_RUNS);
  try {
    const { base, cookie } = await entered(server);
    for (const name of ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', 'picture/__proto__/x']) {
      expect([name, (await request(server.port, base + name, cookie)).status]).toEqual([name, 404]);
    }
    expect((await request(server.port, base, cookie)).status).toBe(200);
  } finally {
    await server.close();
  }
});

test('goes on after a request that cannot be served', async () => {
  const failing = {
    ...NO_RUNS,
    get all(): never {
      throw new Error('no runs');
    },
  };
  const server = await startWatchServer(failing);
  try {
    const { base, cookie } = await entered(server);
    expect((await request(server.port, `${base}picture/run-1/test-1`, cookie)).status).toBe(500);
    expect((await request(server.port, base, cookie)).status).toBe(200);
  } finally {
    await server.close().catch(() => undefined);
  }
});
