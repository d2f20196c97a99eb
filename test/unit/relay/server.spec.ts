import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { WebSocket } from 'ws';
import { checkRelay } from '../../../src/clients/playwright/relay/check-relay.ts';
import { findPlaywrights } from '../../../src/relay/playwright-versions.ts';
import { issueRelayToken } from '../../../src/relay/relay-token.ts';
import { type Relay, startRelay } from '../../../src/relay/server.ts';

const SECRET = 'a secret of 32 characters or more';
const CDP = 'ws://127.0.0.1:1/hidden';

const test = base.extend<{ relay: Relay }>({
  relay: async ({}, use) => {
    const relay = await startRelay({
      host: '127.0.0.1',
      port: 0,
      tls: null,
      secret: SECRET,
      allowed: { hosts: ['127.0.0.1'], allowPrivate: true },
      playwrights: new Map([['1.65', '/nowhere']]),
      // None: what is refused here starts no process.
      limits: { leases: 0, memoryMB: 100, minutes: 1 },
      user: undefined,
      onLog: () => undefined,
    });
    await use(relay);
    await relay.stop();
  },
});

/** Returns status and text of a refused connection. */
async function ask(relay: Relay, headers: Record<string, string>, path = '/v1/lease') {
  const socket = new WebSocket(`ws://127.0.0.1:${relay.port}${path}`, { headers });
  return await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => reject(new Error('connected')));
    socket.on('unexpected-response', async (_request, response) => {
      let text = '';
      for await (const part of response) text += part;
      resolve({ status: response.statusCode, text });
    });
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'user-agent': 'Playwright/1.65.1 (x64)' });

test('refuses a worker without a valid token', async ({ relay }) => {
  for (const headers of [{}, bearer('x'), bearer(issueRelayToken('another secret, also long', CDP))]) {
    expect(await ask(relay, headers)).toEqual({
      status: 401,
      text: expect.stringContaining('POOLWRIGHT_RELAY_SECRET'),
    });
  }
  expect((await ask(relay, bearer(issueRelayToken(SECRET, CDP)), '/other')).status).toBe(404);
});

test('refuses a worker beyond its limit, and a token that was used', async ({ relay }) => {
  const token = issueRelayToken(SECRET, CDP);
  expect(await ask(relay, bearer(token))).toEqual({ status: 503, text: expect.stringContaining('--max-leases') });
  expect((await ask(relay, bearer(token))).status).toBe(401);
  expect(relay.leases()).toBe(0);
});

test('closes a refused connection, also one that goes on sending or never closes', async ({ relay }) => {
  const head = 'GET /v1/lease HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
  const sender = connect(relay.port, '127.0.0.1');
  sender.write(`${head}more`);
  sender.resume().end();
  await once(sender, 'close');
  const silent = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true });
  silent.write(head);
  silent.resume();
  await once(silent, 'end');
  // It still has its own half; the relay does not wait for that.
  await relay.stop();
  silent.destroy();
});

test('names the versions that it has, and how to install another one', async ({ relay }) => {
  const token = issueRelayToken(SECRET, CDP);
  const { status, text } = await ask(relay, { ...bearer(token), 'user-agent': 'Playwright/1.56.2 (x64)' });
  expect(status).toBe(426);
  expect(text).toContain('no Playwright 1.56, only 1.65');
  expect(text).toContain('npm install playwright-1.56@npm:playwright-core@1.56');
});

test('is checked before a run', async ({ relay }) => {
  const check = (version: string, secret: string | undefined, port = relay.port) =>
    checkRelay(`ws://127.0.0.1:${port}`, version, secret);
  await check('1.65.1', SECRET);
  await expect(check('1.56.0', SECRET)).rejects.toThrow('the relay has no Playwright 1.56, only 1.65');
  await expect(check('1.65.1', 'another secret, also long')).rejects.toThrow('POOLWRIGHT_RELAY_SECRET differs');
  await expect(check('1.65.1', undefined)).rejects.toThrow('POOLWRIGHT_RELAY_SECRET');
  await expect(check('1.65.1', SECRET, 1)).rejects.toThrow('does not respond');
});

test('finds every installed playwright-core', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'playwrights-'));
  const install = async (place: string, name: string, version: string) => {
    const path = join(directory, 'node_modules', place);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'package.json'), JSON.stringify({ name, version }));
    return path;
  };
  try {
    const latest = await install('playwright-core', 'playwright-core', '1.65.1');
    const older = await install('playwright-1.56', 'playwright-core', '1.56.0');
    await install('playwright', 'playwright', '1.40.0');
    await install('other', 'playwright-core', '1.30.0');
    expect(Object.fromEntries(await findPlaywrights(directory))).toEqual({ '1.65': latest, '1.56': older });
    expect(await findPlaywrights(relative(process.cwd(), directory))).toEqual(await findPlaywrights(directory));
    expect((await findPlaywrights(join(directory, 'none'))).size).toBe(0);
  } finally {
    await rm(directory, { recursive: true });
  }
});
