import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { ProxyFetcher } from '../../../../src/cdp/network/send/fetcher.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** A page that is far away takes a response more slowly than its server sends it. */

const KB = 1024;
/** When a part arrives that counts as one of a stream, in ms. */
const STREAM_MS = 150;

interface Response {
  size: number;
  framing: 'length' | 'chunks' | 'until the end';
  /** Whether the server announces that it closes the connection. */
  closes: boolean;
  end: 'ends the connection' | 'keeps the connection' | 'sends half, and ends' | 'sends half, and resets';
  /** How long the reader is busy with each piece, in ms. */
  busy: number;
  piece: number;
}

const responses: fc.Arbitrary<Response> = fc.record({
  size: fc.oneof(fc.integer({ min: 256 * KB, max: 700 * KB }), fc.constantFrom(257 * KB, 300 * KB, 300 * KB + 1)),
  framing: fc.constantFrom('length', 'chunks', 'until the end'),
  closes: fc.boolean(),
  end: fc.constantFrom(
    ...(['ends the connection', 'keeps the connection', 'sends half, and ends', 'sends half, and resets'] as const),
  ),
  busy: fc.constantFrom(0, 1, 5),
  piece: fc.constantFrom(KB, 20 * KB, 100 * KB),
});

function respond(socket: Socket, { size, framing, closes, end }: Response): void {
  const isHalf = end.startsWith('sends half');
  const body = Buffer.alloc(isHalf ? size / 2 : size, 'a');
  const header = {
    length: `Content-Length: ${size}\r\n`,
    chunks: 'Transfer-Encoding: chunked\r\n',
    'until the end': '',
  };
  socket.write(`HTTP/1.1 200 OK\r\n${header[framing]}${closes ? 'Connection: close\r\n' : ''}\r\n`);
  if (framing === 'chunks') socket.write(`${size.toString(16)}\r\n`);
  socket.write(body);
  if (framing === 'chunks' && !isHalf) socket.write('\r\n0\r\n\r\n');
  if (end === 'sends half, and resets') socket.write('', () => socket.resetAndDestroy());
  else if (end !== 'keeps the connection' || framing === 'until the end') socket.end();
}

test('reads all that a server has sent, and fails only when something is missing', async () => {
  const property = fc.asyncProperty(responses, async (response) => {
    const read = served(
      (socket) => respond(socket, response),
      (fetcher, url) => readSlowly(fetcher, url, response),
    );
    const { size, framing, end } = response;
    if (!end.startsWith('sends half')) expect(await read).toBe(size);
    else if (framing !== 'until the end') await expect(read).rejects.toThrow();
    else if (end === 'sends half, and ends') expect(await read).toBe(Math.floor(size / 2));
    else await read.catch(() => undefined);
  });
  await fc.assert(property, propertyRuns(2_000, 300));
});

test('reads the part of a body that arrives together with the end of the connection, and then fails', async () => {
  const begin = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    setTimeout(() => socket.end('4\r\npart\r\n'), STREAM_MS);
  };
  await served(begin, async (fetcher, url) => {
    const { rest } = await fetched(fetcher, url, 'never');
    expect(String(await rest?.readNext(KB))).toBe('part');
    await expect(rest?.readNext(KB)).rejects.toThrow();
  });
});

/** Runs `use` beside a server that gives each connection one response. */
async function served<T>(serve: (socket: Socket) => void, use: (fetcher: ProxyFetcher, url: string) => Promise<T>) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => serve(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const fetcher = new ProxyFetcher();
  try {
    return await use(fetcher, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    fetcher.close();
    server.close();
  }
}

async function fetched(fetcher: ProxyFetcher, url: string, download: 'is' | 'never') {
  const { signal } = new AbortController();
  const request = { url, method: 'GET', headers: {}, body: null, ignoreHTTPSErrors: false, signal };
  const outcome = await fetcher.fetch({ ...request, download });
  if ('failure' in outcome) throw new Error(outcome.detail);
  return outcome;
}

/** Returns the size of a response's body. */
async function readSlowly(fetcher: ProxyFetcher, url: string, { busy, piece }: Response): Promise<number> {
  const { body, rest } = await fetched(fetcher, url, 'is');
  let size = body.length;
  for (let next = await rest?.readNext(piece); next; next = await rest?.readNext(piece)) {
    size += next.length;
    await delay(busy);
  }
  return size;
}
