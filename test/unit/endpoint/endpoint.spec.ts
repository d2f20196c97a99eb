import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@playwright/test';
import { WebSocket } from 'ws';
import { type Endpoint, startEndpoint } from '../../../src/endpoint/endpoint.ts';
import { connectionSettings } from '../../../src/options/lease-plan.ts';

/** No broker is at its address: a lease fails. */
const BROWSERS = {
  address: { address: '/nowhere/broker.sock', token: 't' },
  connection: connectionSettings({}, {}),
  project: { id: 'p', name: '' },
  root: '/',
  command: 'tool',
};

async function withEndpoint(firstMessageMs: number, use: (endpoint: Endpoint) => Promise<void>): Promise<void> {
  const endpoint = await startEndpoint(BROWSERS, { firstMessageMs });
  try {
    await use(endpoint);
  } finally {
    await endpoint.stop();
  }
}

async function closeOf(socket: WebSocket): Promise<string> {
  const [code, reason] = await once(socket, 'close');
  return `${code} ${reason}`;
}

test('a tool that sends nothing is disconnected, and no browser is leased for it', async () => {
  await withEndpoint(50, async ({ url }) => {
    // A lease would fail with another reason.
    expect(await closeOf(new WebSocket(url))).toBe('1008 No message within 0.05 s.');
    for (const path of ['devtools/browser/a', 'playwright'])
      expect(await closeOf(new WebSocket(`${url}/${path}`)), path).toMatch(/^1008 /);
  });
});

test("a tool of Playwright's protocol that breaks off its connection harms no other one", async () => {
  await withEndpoint(60_000, async ({ url }) => {
    const broken = connect(Number(new URL(url).port), '127.0.0.1');
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': 13 };
    const headers = { ...upgrade, host: new URL(url).host, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    broken.write([`GET ${new URL(url).pathname}/playwright HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    await once(broken, 'data');
    // Not a frame: the socket fails before it closes.
    broken.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    await once(broken.resume(), 'close');
    expect((await fetch(`${url.replace('ws:', 'http:')}/json/version`)).status).toBe(200);
  });
});

test('a tool whose browser cannot be leased gets the reason, without the token', async () => {
  await withEndpoint(60_000, async ({ url }) => {
    const socket = new WebSocket(url);
    socket.on('open', () => socket.send('{"id":1,"method":"Browser.getVersion"}'));
    const end = await closeOf(socket);
    expect(end).toMatch(/^1011 .*broker/);
    expect(end).not.toContain(new URL(url).pathname.slice(1));
  });
});

test('a tool that leaves while it waits for a browser makes room for the next one', async () => {
  // A broker that has no browser: each lease is a connection to it, and waits.
  const address = join(await mkdtemp(join(tmpdir(), 'endpoint-')), 'broker.sock');
  const broker = createServer((worker) => {
    createInterface({ input: worker }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (method === 'hello') worker.write(`${JSON.stringify({ id, result: { slot: 0 } })}\n`);
    });
  });
  await new Promise<void>((listening) => broker.listen(address, listening));
  const endpoint = await startEndpoint({ ...BROWSERS, address: { address, token: 't' } }, { max: 1 });
  const tool = () => {
    const socket = new WebSocket(endpoint.url);
    socket.on('open', () => socket.send('{"id":1,"method":"Browser.getVersion"}'));
    return socket;
  };
  try {
    const first = tool();
    const [leased] = await once(broker, 'connection');
    const second = tool();
    const next = once(broker, 'connection');
    const left = once(leased, 'close');
    first.send('{"id":2,"method":"Target.getTargets"}');
    first.terminate();
    await Promise.all([left, next]);
    second.terminate();
  } finally {
    await endpoint.stop();
    broker.close();
  }
});

test('refuses what has no token, what a web page has sent, and paths that do not exist', async () => {
  await withEndpoint(60_000, async ({ url }) => {
    const http = url.replace('ws:', 'http:');
    const status = async (address: string, headers = {}) => (await fetch(address, { headers })).status;
    const { origin } = new URL(http);
    expect(await status(`${http}/json/version`)).toBe(200);
    expect(await status(`${origin}/json/version`)).toBe(404);
    expect(await status(`${http}/json/nothing`)).toBe(404);
    expect(await status(`${http}/json/list?lease=unknown`)).toBe(404);
    expect(await status(`${http}/json/version`, { origin: 'https://evil.example' })).toBe(403);
    for (const [address, headers] of [
      [url.replace(/\/[^/]*$/, '/wrong'), {}],
      [url, { origin: 'https://evil.example' }],
      [url, { host: 'evil.example' }],
      [`${url}/json/version`, {}],
    ] as const) {
      const socket = new WebSocket(address, { headers });
      const [error] = await once(socket, 'error');
      expect(String(error)).toMatch(/Unexpected server response: 40[34]/);
    }
  });
});
