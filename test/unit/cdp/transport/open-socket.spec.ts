import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { expect, test } from '@playwright/test';
import { WebSocketServer } from 'ws';
import { openSocket } from '../../../../src/cdp/transport/open-socket.ts';

/** The bytes that a connection to a browser sends. */

/** The loopback address under another name, so that it counts as another machine. */
const elsewhere: LookupFunction = (_host, { all }, done) => {
  if (all) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

/** Connects, sends two messages in one task, and returns the bytes that have arrived. */
async function exchange(host: string, lookup?: LookupFunction) {
  const received: Buffer[] = [];
  const messages: string[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    // A copy, because the server removes the mask in place.
    socket.on('data', (chunk: Buffer) => received.push(Buffer.from(chunk)));
    sockets.handleUpgrade(request, socket, head, (link) => link.on('message', (data) => messages.push(String(data))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { socket, send } = await openSocket(`ws://${host}:${port}/`, { timeout: 5_000, ...(lookup && { lookup }) });
  try {
    socket.resume();
    send('{"id":1}');
    send('{"id":2}');
    await expect.poll(() => messages).toEqual(['{"id":1}', '{"id":2}']);
    return received;
  } finally {
    socket.terminate();
    sockets.close();
    server.close();
  }
}

test('two messages of one task are one write, without a mask where no proxy can be on the way', async () => {
  const received = await exchange('127.0.0.1');
  const sent = Buffer.concat(received);
  expect(received).toHaveLength(1);
  expect(sent.subarray(2, 6)).toEqual(Buffer.alloc(4));
  expect(sent.toString('latin1')).toContain('{"id":1}');
});

test('masks what it sends unencrypted to another machine', async () => {
  const received = await exchange('browsers.test', elsewhere);
  const sent = Buffer.concat(received);
  expect(sent.subarray(2, 6)).not.toEqual(Buffer.alloc(4));
  expect(sent.toString('latin1')).not.toContain('{"id":1}');
});
