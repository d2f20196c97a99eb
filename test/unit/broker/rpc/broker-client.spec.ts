import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { brokerClient } from '../../../../src/broker/rpc/client.ts';

/** The end of a worker's connection to the broker. */

let directory = '';
test.beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'poolwright-client-'));
});
test.afterEach(() => rmSync(directory, { recursive: true }));

test('does not reopen a closed connection, which would hold browsers for a worker that has given them back', async () => {
  const sockets: Socket[] = [];
  const address = join(directory, 'broker.sock');
  const server = createServer((socket) => sockets.push(socket)).listen(address);
  await once(server, 'listening');
  const client = brokerClient({ address, token: 't' });
  client.close();
  await expect(client.say({ text: 'anything' })).rejects.toMatchObject({ code: 'BROKER_LOST' });
  expect(sockets).toEqual([]);
  server.close();
});

test('stops waiting for the replacement of a crashed broker when the connection is closed', async () => {
  const client = brokerClient({ address: join(directory, 'missing.sock'), token: 't' });
  const request = client.say({ text: 'anything' }).catch((error: unknown) => error);
  const closed = performance.now();
  client.close();
  expect(await request).toMatchObject({ code: 'BROKER_LOST' });
  expect(performance.now() - closed).toBeLessThan(10_000);
});
