import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { BrokerClient } from '../../../src/worker/broker-client.ts';

/** What a worker's line does at its end. */

let folder = '';
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'poolwright-line-'));
});
test.afterEach(() => rmSync(folder, { recursive: true }));

test('a closed line is not opened again: its claims would outlive the worker that has given them up', async () => {
  const sockets: Socket[] = [];
  const address = join(folder, 'broker.sock');
  const server = createServer((socket) => sockets.push(socket)).listen(address);
  await once(server, 'listening');
  const line = new BrokerClient({ address, token: 't' });
  line.close();
  await expect(line.say('anything')).rejects.toMatchObject({ code: 'BROKER_LOST' });
  expect(sockets).toEqual([]);
  server.close();
});

test('who waits for a broker in the place of a dead one does so no longer once the line is closed', async () => {
  const line = new BrokerClient({ address: join(folder, 'nobody.sock'), token: 't' });
  const said = line.say('anything').catch((error: unknown) => error);
  const closed = performance.now();
  line.close();
  expect(await said).toMatchObject({ code: 'BROKER_LOST' });
  expect(performance.now() - closed).toBeLessThan(10_000);
});
