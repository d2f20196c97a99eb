import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

/** Encoded bodies, decoded here, compared with the browser's own. */

// Compresses to several kB.
const TEXT = Buffer.from(Array.from({ length: 3_000 }, (_, n) => `${(n * 7_919) % 3_001} `).join(''));
const [gzip, zlib, raw, br] = [gzipSync(TEXT), deflateSync(TEXT), deflateRawSync(TEXT), brotliCompressSync(TEXT)];
const JUNK = Buffer.from('and more');

/** A head of gzip with everything that it may have. */
function fullGzip(): Buffer {
  const head = Buffer.from([0x1f, 0x8b, 8, 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 3, 0, 65, 66, 67]);
  return Buffer.concat([head, Buffer.from('a name\0a comment\0'), gzip.subarray(10)]);
}

/** `content-encoding`, several as lines, and the body. */
const CASES: Record<string, [encoding: string | string[], body: Buffer]> = {
  gzip: ['gzip', gzip],
  'gzip in capitals': ['GZIP', gzip],
  'x-gzip': ['x-gzip', gzip],
  'gzip with a full head': ['gzip', fullGzip()],
  deflate: ['deflate', zlib],
  'deflate without a head': ['deflate', raw],
  br: ['br', br],
  'gzip, then br': ['gzip, br', brotliCompressSync(gzip)],
  'br, then gzip': ['br,gzip', gzipSync(br)],
  'gzip twice': ['gzip, gzip', gzipSync(gzip)],
  'two lines': [['gzip', 'br'], brotliCompressSync(gzip)],
  'spaces around it': ['  gzip  ', gzip],
  identity: ['identity', TEXT],
  'gzip, then identity': ['gzip, identity', gzip],
  'an unknown one, then gzip': ['unknown, gzip', gzip],
  'an empty one': ['', TEXT],
  'a comma too many': ['gzip,', gzip],
  'a name of every object': ['constructor', TEXT],
  'another name of every object': ['__proto__', TEXT],
  compress: ['compress', TEXT],
  'gzip that is cut in its trailer': ['gzip', gzip.subarray(0, -4)],
  'gzip that is cut in the middle': ['gzip', gzip.subarray(0, gzip.length >> 1)],
  'gzip that is cut in its head': ['gzip', gzip.subarray(0, 5)],
  'deflate that is cut': ['deflate', zlib.subarray(0, zlib.length >> 1)],
  'deflate without a head that is cut': ['deflate', raw.subarray(0, raw.length >> 1)],
  'br that is cut': ['br', br.subarray(0, br.length >> 1)],
  'gzip with a wrong checksum': ['gzip', Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(8)])],
  'gzip with something behind it': ['gzip', Buffer.concat([gzip, JUNK])],
  'gzip with a second member': ['gzip', Buffer.concat([gzip, gzip])],
  'deflate with something behind it': ['deflate', Buffer.concat([zlib, JUNK])],
  'br with something behind it': ['br', Buffer.concat([br, JUNK])],
  'gzip with 4 MB behind it': ['gzip', Buffer.concat([gzip, Buffer.alloc(4_000_000)])],
  'an empty gzip': ['gzip', Buffer.alloc(0)],
  'an empty deflate': ['deflate', Buffer.alloc(0)],
  'an empty br': ['br', Buffer.alloc(0)],
  'gzip that is text': ['gzip', TEXT],
  'deflate that is text': ['deflate', TEXT],
  'br that is text': ['br', TEXT],
  'deflate that is gzip': ['deflate', gzip],
  'gzip that is deflate': ['gzip', zlib],
};

test('decodes each body as the browser does', async ({ far }) => {
  const server = createServer(async ({ url }, response) => {
    const [encoding, body] = CASES[decodeURIComponent(String(url).slice(1))] ?? [[], Buffer.from('a page')];
    response
      .on('error', () => undefined)
      .writeHead(200, {
        'content-length': body.length,
        'content-type': 'text/html',
        'content-encoding': encoding as string,
      });
    // In two parts, the first of which may be a part of a head.
    response.write(body.subarray(0, 7));
    response.end(body.subarray(7));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const look = async (host: string) => {
    const page = (await far.newPage()) as Page;
    await page.goto(`http://${host}:${port}/`);
    const found: Record<string, unknown> = {};
    for (const name of Object.keys(CASES)) {
      const ended = Promise.race([page.waitForEvent('requestfinished'), page.waitForEvent('requestfailed')]);
      const read = await page.evaluate(
        async (path) => {
          const response = await fetch(path).catch(() => null);
          const text = await response?.text().catch(() => null);
          return text && [response?.headers.get('content-encoding'), response?.headers.get('content-length'), text];
        },
        `/${encodeURIComponent(name)}`,
      );
      found[name] = [read, (await ended).failure()?.errorText];
    }
    return found;
  };
  const [proxied, direct] = await Promise.all([look(LISTED), look('localhost')]);
  server.closeAllConnections();
  server.close();
  // A body that cannot be decoded fails with its head here, for a response that is not a stream.
  expect(proxied).toEqual(direct);
});
