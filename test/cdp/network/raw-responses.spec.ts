import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Page } from '@playwright/test';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** Responses that a strict parser refuses, compared with the browser's own. */

const many = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: ${'a'.repeat(1_000)}\r\n`).join('');
const withHeaders = (lines: string) => `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${lines}X-Last: 1\r\n\r\nhi`;
const withLength = (lines: string, body = 'hi') => `HTTP/1.1 200 OK\r\n${lines}X-Last: 1\r\n\r\n${body}`;
const CHUNKS = '2\r\nhi\r\n0\r\n\r\n';

const RESPONSES: Record<string, string> = {
  plain: withHeaders(''),
  '20 kB of headers': withHeaders(many(20)),
  '200 kB of headers': withHeaders(many(200)),
  '300 kB of headers': withHeaders(many(300)),
  'lines that end with \\n': 'HTTP/1.1 200 OK\nContent-Length: 2\nX-A: 1\n\nhi',
  'lines that end with either': 'HTTP/1.1 200 OK\r\nContent-Length: 2\nX-A: 1\r\n\nhi',
  'a length twice': withLength('Content-Length: 2\r\nContent-Length: 2\r\n'),
  'a length twice in one line': withLength('Content-Length: 2, 2\r\n'),
  'two different lengths': withLength('Content-Length: 2\r\nContent-Length: 3\r\n', 'hi!'),
  'a length and chunks': withLength('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', CHUNKS),
  'chunks and a length': withLength('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', CHUNKS),
  'a length that is not a number': withLength('Content-Length: abc\r\n'),
  'a length with a sign': withLength('Content-Length: +2\r\n'),
  'an empty length': withLength('Content-Length: \r\n'),
  'another transfer encoding and a length': withLength('Transfer-Encoding: identity\r\nContent-Length: 2\r\n'),
  'chunks with extensions and trailers': withLength(
    'Transfer-Encoding: chunked\r\n',
    '2;a=b\r\nhi\r\n0\r\nX-Trailer: 1\r\n\r\n',
  ),
  'a name with a space': withHeaders('X A: 1\r\n'),
  'a space behind a name': withHeaders('X-A : 1\r\n'),
  'a space behind the name of the length': withLength('Content-Length : 2\r\n'),
  'a line without a colon': withHeaders('nonsense\r\n'),
  'an empty name': withHeaders(': 1\r\n'),
  'a name with brackets': withHeaders('X(A): 1\r\n'),
  'a name that is not ASCII': withHeaders('X-\xfc: 1\r\n'),
  'a value that is not ASCII': withHeaders('X-A: \xe4\x80\r\n'),
  'a control character': withHeaders('X-A: a\x01b\r\n'),
  'a carriage return in a value': withHeaders('X-A: a\rb\r\n'),
  'a folded line': withHeaders('X-A: 1\r\n  2\r\n'),
  'a colon in a value': withHeaders('X-A: a:b :c\r\n'),
  'HTTP/1.0': 'HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nhi',
  'HTTP/1.2': 'HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nhi',
  'http in small letters': 'http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi',
  'empty lines before it': '\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi',
  'something before it': 'ab\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi',
  'a head that ends early': 'HTTP/1.1 200 OK\r\nX-A: 1',
  'a chunk without a size': withLength('Transfer-Encoding: chunked\r\n', 'zz\r\nhi\r\n'),
  'chunks that end early': withLength('Transfer-Encoding: chunked\r\n', '2\r\nhi\r\n'),
  'hardly anything': 'hi',
  'no HTTP': 'hi there, this is no HTTP\r\n\r\n',
  'an informational response first': `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${withHeaders('')}`,
  'an unrequested 100': `HTTP/1.1 100 Continue\r\n\r\n${withHeaders('')}`,
  'an unrequested 101': `HTTP/1.1 101 Switching\r\n\r\n${withHeaders('')}`,
  'a 204 with a length': 'HTTP/1.1 204 None\r\nContent-Length: 2\r\n\r\n',
  'a 304 with a length': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n',
  'more than its length': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more',
  'less than its length': 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi',
  'an unknown status': 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi',
};

for (const pieces of ['at once', 'byte by byte']) {
  test(`accepts each response that the browser accepts: ${pieces}`, slowIf(pieces === 'at once'), async ({ far }) => {
    test.slow();
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (data) => {
        const [, path = ''] = /^\w+ \/(\S*)/.exec(String(data)) ?? [];
        const page = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
        const response = Buffer.from(RESPONSES[decodeURIComponent(path)] ?? page, 'latin1');
        if (pieces === 'at once' || response.length > 1_000) return void socket.end(response);
        socket.setNoDelay(true);
        let at = 0;
        const next = () => {
          if (at === response.length) return void socket.end();
          socket.write(response.subarray(at, at + 1), () => setImmediate(next));
          at += 1;
        };
        next();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const look = async (host: string) => {
      const page = (await far.newPage()) as Page;
      await page.goto(`http://${host}:${port}/`);
      const found: Record<string, unknown> = {};
      for (const name of Object.keys(RESPONSES)) {
        const ended = Promise.race([page.waitForEvent('requestfinished'), page.waitForEvent('requestfailed')]);
        const read = await page.evaluate(
          async (path) => {
            const response = await fetch(path).catch(() => null);
            const text = await response?.text().catch(() => null);
            return (
              typeof text === 'string' && [response?.status, response?.statusText, [...(response?.headers ?? [])], text]
            );
          },
          `/${encodeURIComponent(name)}`,
        );
        const request = await ended;
        const error = request.failure()?.errorText;
        const response = error === undefined ? await request.response() : null;
        found[name] = {
          read,
          error,
          phrase: response?.statusText(),
          // The browser reports them by name.
          headers: (await response?.headersArray())?.map(({ name, value }) => `${name}: ${value}`).sort(),
        };
      }
      return found;
    };
    const [proxied, direct] = await Promise.all([look(LISTED), look('localhost')]);
    server.close();
    expect(proxied).toEqual(direct);
  });
}
