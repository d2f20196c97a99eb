import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import { readRequest, reply, type SocksRequest } from '../../../../src/emulator/egress/socks-handshake.ts';

/** Sends these bytes and ends the connection. Returns what the server has read and replied. */
async function talk(...pieces: number[][]): Promise<{ request: SocksRequest | null; replies: number[] }> {
  let request: Promise<SocksRequest | null> | undefined;
  const accepted = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.add(socket.on('error', () => undefined));
    request = readRequest(socket);
    void request.then((found) => found && reply(socket, 'forbidden'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  const replies = buffer(client);
  for (const piece of pieces) {
    // One byte at a time: a request may come in any pieces.
    for (const byte of piece) client.write(Uint8Array.of(byte));
  }
  client.end();
  const all = [...(await replies)];
  for (const socket of accepted) socket.destroy();
  server.close();
  return { request: (await request) ?? null, replies: all };
}

const GREETING = [5, 2, 2, 0];
const FORBIDDEN = [5, 2, 0, 1, 0, 0, 0, 0, 0, 0];

test('reads names and addresses, in any pieces', async () => {
  const name = [...Buffer.from('site.test')];
  expect(await talk(GREETING, [5, 1, 0, 3, name.length, ...name, 1, 187])).toEqual({
    request: { host: 'site.test', port: 443 },
    replies: [5, 0, ...FORBIDDEN],
  });
  expect((await talk(GREETING, [5, 1, 0, 1, 127, 0, 0, 1, 0, 80])).request).toEqual({ host: '127.0.0.1', port: 80 });
  const loopback = [...new Array<number>(15).fill(0), 1];
  expect((await talk(GREETING, [5, 1, 0, 4, ...loopback, 0, 80])).request).toEqual({ host: '::1', port: 80 });
});

test('ends a connection that is no SOCKS5, wants a password, or ends early', async () => {
  expect(await talk([...Buffer.from('GET / HTTP/1.1\r\n\r\n')])).toEqual({ request: null, replies: [] });
  expect(await talk([5, 0])).toEqual({ request: null, replies: [] });
  expect((await talk([5, 1, 2])).request).toBeNull();
  expect(await talk(GREETING)).toEqual({ request: null, replies: [5, 0] });
  expect((await talk(GREETING, [5, 1, 0, 3, 9, 65])).request).toBeNull();
  expect(await talk([])).toEqual({ request: null, replies: [] });
});

test('refuses other commands than CONNECT, and other kinds of addresses', async () => {
  expect((await talk(GREETING, [5, 2, 0, 1, 1, 1, 1, 1, 0, 80])).replies.slice(2, 4)).toEqual([5, 7]);
  expect((await talk(GREETING, [5, 1, 0, 9, 0, 80])).replies.slice(2, 4)).toEqual([5, 8]);
});
