import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { ProxyFetcher } from '../../../../src/cdp/network/send/fetcher.ts';

/** A page that is far away takes a response more slowly than its server sends it. */

const KB = 1024;
/** How long the reader is busy with each piece, in ms: longer than the server takes to close its connection. */
const BUSY_MS = 5;
const SIZES = [257 * KB, 300 * KB, 300 * KB + 1, 400 * KB + 100, 555_555];
const HALF = 150 * KB;
/** When a part arrives that counts as one of a stream, in ms. */
const STREAM_MS = 150;

/** What a server does with its connection, and how much of the body its page can read; null: reading fails. */
const SERVERS: Record<
  string,
  { header: string; respond(socket: Socket, head: string, body: Buffer): void; whole: boolean }
> = {
  'announces that it closes its connection': {
    header: 'Connection: close\r\n',
    respond: (socket, head, body) => socket.end(Buffer.concat([Buffer.from(head), body])),
    whole: true,
  },
  'closes its connection without a word': {
    header: '',
    respond: (socket, head, body) => socket.end(Buffer.concat([Buffer.from(head), body])),
    whole: true,
  },
  'closes its connection too early': {
    header: 'Connection: close\r\n',
    respond: (socket, head, body) => socket.end(Buffer.concat([Buffer.from(head), body.subarray(HALF)])),
    whole: false,
  },
  'resets its connection': {
    header: 'Connection: close\r\n',
    respond: (socket, head, body) => {
      socket.write(Buffer.concat([Buffer.from(head), body.subarray(HALF)]), () => socket.resetAndDestroy());
    },
    whole: false,
  },
};

for (const [name, { header, respond, whole }] of Object.entries(SERVERS)) {
  test(`${whole ? 'reads all' : 'fails in the body'} of a server that ${name}`, async () => {
    for (const size of SIZES) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        const head = `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n${header}\r\n`;
        socket.once('data', () => respond(socket, head, Buffer.alloc(size, 'a')));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const fetcher = new ProxyFetcher();
      try {
        const read = readSlowly(fetcher, `http://127.0.0.1:${port}/`);
        if (whole) expect(await read).toBe(size);
        else await expect(read).rejects.toThrow();
      } finally {
        fetcher.close();
        server.close();
      }
    }
  });
}

test('reads the part of a body that arrives together with the end of the connection, and then fails', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    setTimeout(() => socket.end('4\r\npart\r\n'), STREAM_MS);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const fetcher = new ProxyFetcher();
  try {
    const { signal } = new AbortController();
    const request = { url: `http://127.0.0.1:${port}/`, method: 'GET', headers: {}, body: null, signal };
    const outcome = await fetcher.fetch({ ...request, ignoreHTTPSErrors: false, download: 'never' });
    if ('failure' in outcome) throw new Error(outcome.detail);
    expect(String(await outcome.rest?.readNext(KB))).toBe('part');
    await expect(outcome.rest?.readNext(KB)).rejects.toThrow();
  } finally {
    fetcher.close();
    server.close();
  }
});

/** Returns the size of a response's body. */
async function readSlowly(fetcher: ProxyFetcher, url: string): Promise<number> {
  const { signal } = new AbortController();
  const request = { url, method: 'GET', headers: {}, body: null, ignoreHTTPSErrors: false, signal };
  const outcome = await fetcher.fetch({ ...request, download: 'is' });
  if ('failure' in outcome) throw new Error(outcome.detail);
  let size = outcome.body.length;
  for (let piece = await outcome.rest?.readNext(KB); piece; piece = await outcome.rest?.readNext(KB)) {
    size += piece.length;
    await delay(BUSY_MS);
  }
  return size;
}
