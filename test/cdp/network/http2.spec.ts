import { once } from 'node:events';
import { createSecureServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { selfSigned } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

/** Servers that speak HTTP/2 and nothing else, compared with the browser's own requests. */

const RESPONSES: Record<string, (response: Http2ServerResponse) => unknown> = {
  '/plain': (response) => response.writeHead(200, { 'x-a': '1', 'set-cookie': ['a=1', 'b=2'] }).end('hi'),
  '/empty': (response) => response.writeHead(204).end(),
  '/stream': (response) => {
    response.writeHead(200).write('begun');
    setTimeout(() => response.end(', ended'), 100);
  },
  '/reset': (response) => response.stream.close(2),
  '/cut': (response) => {
    response.writeHead(200).write('begun');
    setTimeout(() => response.stream.close(2), 100);
  },
};

test('reaches servers that speak only HTTP/2', async ({ far }) => {
  const server = createSecureServer(selfSigned(), (request, response) => {
    const respond = RESPONSES[request.url];
    if (respond) return void respond(response);
    let size = 0;
    request.on('data', ({ length }: Buffer) => {
      size += length;
    });
    request.once('end', () =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(`${request.method} ${size}`),
    );
  });
  await once(server.listen(0), 'listening');
  const { port } = server.address() as AddressInfo;
  const context = await far.browser()?.newContext({ ignoreHTTPSErrors: true });
  const look = async (host: string) => {
    const page = (await context?.newPage()) as Page;
    await page.goto(`https://${host}:${port}/`);
    const found: Record<string, unknown> = { page: await page.textContent('body') };
    for (const path of Object.keys(RESPONSES)) {
      const ended = Promise.race([page.waitForEvent('requestfinished'), page.waitForEvent('requestfailed')]);
      const read = page.evaluate(async (url) => {
        const response = await fetch(url).catch(() => null);
        return [response?.status, response?.headers.get('x-a'), await response?.text().catch(() => null)];
      }, path);
      const failure = (await ended).failure()?.errorText;
      found[path] = [await read, failure];
    }
    found.post = await page.evaluate(async () => {
      const body = new Uint8Array(3_000_000);
      return await (await fetch('/posted', { method: 'POST', body })).text();
    });
    return found;
  };
  const [proxied, direct] = await Promise.all([look(LISTED), look('localhost')]);
  await context?.close();
  server.close();
  expect(proxied).toEqual(direct);
  expect(proxied).toMatchObject({ page: 'GET 0', post: 'POST 3000000' });
});
