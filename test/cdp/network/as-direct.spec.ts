import { createServer, type RequestListener } from 'node:http';
import { createServer as createRaw } from 'node:net';
import type { Page, Response } from '@playwright/test';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

/** Proxied requests as Playwright and servers see them, compared with the browser's own. */

/** Runs it on an address of the server that only the proxy reaches, and on one that the browser reaches itself. */
async function bothWays<T>({ url, port }: Pick<DevServer, 'url' | 'port'>, look: (origin: string) => Promise<T>) {
  const { protocol } = new URL(url);
  return {
    proxied: await look(`${protocol}//${LISTED}:${port}`),
    direct: await look(`${protocol}//localhost:${port}`),
  };
}

const failureOf = async (page: Page, url: string) => {
  const failed = page.waitForEvent('requestfailed');
  const [error] = await Promise.all([page.goto(url).catch((error: Error) => error.message), failed]);
  const text = (await failed).failure()?.errorText;
  return [String(error).replaceAll(LISTED, 'localhost').split('\n')[0], text];
};

test("reports Chromium's error codes", async ({ far, dev, secure }) => {
  const raw = createRaw((socket) => socket.once('data', () => socket.end('no HTTP at all\r\n\r\n')));
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
  const { port } = raw.address() as { port: number };
  try {
    for (const [server, path, error] of [
      [dev, '/reset', 'net::ERR_EMPTY_RESPONSE'],
      [secure, '/', 'net::ERR_CERT_AUTHORITY_INVALID'],
    ] as const) {
      const { proxied, direct } = await bothWays(server, async (origin) => {
        const page = await far.newPage();
        return await failureOf(page as Page, `${origin}${path}`);
      });
      expect(proxied).toEqual(direct);
      expect(proxied[1]).toBe(error);
    }
    const page = (await far.newPage()) as Page;
    const [, odd] = await failureOf(page, `https://${LISTED}:${port}/`);
    expect(odd).toBe('net::ERR_SSL_PROTOCOL_ERROR');
  } finally {
    raw.close();
  }
});

/** Bodies that break directly after the head. */
const BROKEN: Record<string, RequestListener> = {
  'in chunks': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('begun', () => response.destroy());
  },
  'of a known length': (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html', 'content-length': 10 })
      .write('begun', () => response.destroy());
  },
  'that cannot be decoded': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end('no gzip');
  },
};

for (const [what, listener] of Object.entries(BROKEN)) {
  test(`reports a body that ${what} breaks after its headers`, async ({ far }) => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const { proxied, direct } = await bothWays({ url: `http://localhost:${port}`, port }, async (origin) => {
        const page = (await far.newPage()) as Page;
        await page.route('**/blank', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
        await page.goto(`${origin}/blank`);
        const seen: unknown[] = [];
        for (const script of [
          `fetch('/').then((answer) => answer.text().then(String, ({ name }) => [answer.status, name]), ({ name }) => name)`,
          `new Promise((resolve) => { const image = new Image(); image.onerror = () => resolve('error'); image.src = '/' })`,
        ]) {
          const failed = page.waitForEvent('requestfailed');
          seen.push(await page.evaluate(script));
          const request = await failed;
          seen.push(request.failure()?.errorText, (await request.response())?.status());
        }
        await page.close();
        return seen;
      });
      expect(proxied).toEqual(direct);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

test('decodes a name and password in the address, or uses them as written', async ({ far, dev }) => {
  const { proxied, direct } = await bothWays(dev, async (origin) => {
    const sent: (string | undefined)[] = [];
    for (const pair of ['u:50%', 'u%:%41%zz', 'ü:%c3%bc%', 'u:%41%E9', '%0A:%20%2F%40', 'u%ED%A0%80:%00x']) {
      const page = await far.newPage();
      await page.goto(`${origin.replace('//', `//${pair}@`)}/private`);
      const [, basic = ''] = dev.seen('/private')?.headers.authorization?.split(' ') ?? [];
      sent.push(Buffer.from(basic, 'base64').toString());
    }
    return sent;
  });
  expect(proxied).toEqual(direct);
  expect(direct.slice(0, 2)).toEqual(['u:50%', 'u%:A%zz']);
});

test('supports several headers of one name, and a compressed body', async ({ far, dev }) => {
  const query = ['a', 'b'].map((value) => `x-many=${Buffer.from(value).toString('base64')}`).join('&');
  const { proxied, direct } = await bothWays(dev, async (origin) => {
    const page = await far.newPage();
    const many = await page.goto(`${origin}/headers?${query}`);
    const script = page.waitForResponse('**/app.js');
    await page.goto(origin);
    const answered = page.waitForResponse('**/headers?*');
    const read = await page.evaluate(async (url) => (await fetch(url)).headers.get('x-many'), `/headers?${query}`);
    const fetched = await answered;
    const all = await (await script).allHeaders();
    const sent = await (await script).request().allHeaders();
    return {
      read,
      fetched: [fetched.headers()['x-many'], (await fetched.allHeaders())['x-many']],
      short: many?.headers()['x-many'],
      full: (await many?.allHeaders())?.['x-many'],
      array: (await many?.headersArray())?.filter(({ name }) => name === 'x-many'),
      encoding: all['content-encoding'],
      length: all['content-length'],
      names: Object.keys(sent)
        .filter((name) => /^(host|connection)$/.test(name))
        .sort(),
      encodings: sent['accept-encoding'] !== undefined,
    };
  });
  expect(proxied).toEqual(direct);
});

test("requests a worker's script with the headers of its page", async ({ far, dev }) => {
  const { proxied, direct } = await bothWays(dev, async (origin) => {
    const page = await far.newPage();
    await page.goto(origin);
    await page.evaluate(`void new Worker('/worker.js')`);
    await expect.poll(() => dev.seen('/worker.js')).toBeDefined();
    const { headers = {} } = dev.seen('/worker.js') ?? {};
    dev.requests.length = 0;
    return [headers['user-agent'], headers['accept-language'], headers.accept];
  });
  expect(proxied).toEqual(direct);
});

test("drops the body's headers from a redirected POST", async ({ far, dev }) => {
  const { proxied, direct } = await bothWays(dev, async (origin) => {
    const page = await far.newPage();
    await page.goto(origin);
    const seen: unknown[] = [];
    for (const status of [302, 303, 307]) {
      await page.evaluate(
        async (url) =>
          await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
        `/redirect?status=${status}&to=/echo`,
      );
      const { method, headers, body } = dev.seen('/echo') ?? { method: '', headers: {}, body: '' };
      seen.push([method, headers['content-type'], String(body)]);
    }
    return seen;
  });
  expect(proxied).toEqual(direct);
});

test('supports a name and password in the address', async ({ far, dev }) => {
  const { proxied, direct } = await bothWays(dev, async (origin) => {
    const page = await far.newPage();
    const statuses: unknown[] = [];
    for (const who of ['ada:secret', 'ada:wrong', 'a%40b:c%3Ad']) {
      const response = await page.goto(`${origin.replace('//', `//${who}@`)}/private`);
      statuses.push([response?.status(), dev.seen('/private')?.headers.authorization]);
    }
    return statuses;
  });
  expect(proxied).toEqual(direct);
});

test("reports a response's headers, server, sizes and times", async ({ far, dev, secure }) => {
  const look = async (response: Response | null) => {
    if (!response) return null;
    await response.finished();
    const request = response.request();
    const { responseHeadersSize, responseBodySize } = await request.sizes();
    const { requestStart, responseStart, responseEnd } = request.timing();
    const { date: _date, ...headers } = response.headers();
    return {
      words: response.statusText(),
      headers,
      server: await response.serverAddr(),
      security: await response.securityDetails(),
      sizes: { responseHeadersSize, responseBodySize },
      inOrder: 0 <= requestStart && requestStart <= responseStart && responseStart <= responseEnd,
    };
  };
  const context = await far.browser()?.newContext({ ignoreHTTPSErrors: true });
  if (!context) throw new Error('no browser');
  for (const server of [dev, secure]) {
    const { proxied, direct } = await bothWays(server, async (origin) => {
      const page = (await context.newPage()) as Page;
      const found: unknown[] = [];
      for (const path of ['/', '/app.js', '/headers?x-own=YQ==', '/redirect?status=302&to=/']) {
        const response = await page.goto(`${origin}${path}`);
        const before = await response?.request().redirectedFrom()?.response();
        found.push([path, await look(response), await look(before ?? null)]);
      }
      // A stream, which has chunk framing around its parts.
      const stream = await look(await ask(page, '/stream'));
      found.push([stream?.server, stream?.inOrder, stream?.sizes.responseHeadersSize]);
      await page.close();
      return found;
    });
    expect(proxied).toEqual(direct);
  }
});

/** The response that a script of the page gets. */
async function ask(page: Page, path: string): Promise<Response> {
  const answered = page.waitForResponse(`**${path}`);
  await page.evaluate(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength, path);
  return await answered;
}

test("gives a page the same worlds as without a proxy, in each client's list", async ({ far, dev }) => {
  const { proxied, direct } = await bothWays(dev, async (origin) => {
    const page = (await far.newPage()) as Page;
    const session = await page.context().newCDPSession(page);
    const created: string[] = [];
    session.on('Runtime.executionContextCreated', ({ context }) => created.push(String(context.auxData?.type)));
    // Existing worlds are reported before the response.
    await session.send('Runtime.enable');
    const atFirst = created.splice(0).sort();
    await page.goto(origin);
    await page.evaluate('1');
    return { atFirst, later: created.sort() };
  });
  expect(proxied).toEqual(direct);
});

test('provides the bodies of images, however a page shows them', async ({ far }) => {
  const server = createServer(({ url = '' }, response) => {
    const isImage = url.startsWith('/image');
    response.setHeader('content-type', isImage ? 'image/svg+xml' : 'text/html');
    response.end(
      isImage ? '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>' : '<link rel=icon href=data:,>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const shown = [
    '<img src="/image?img">',
    '<picture><img srcset="/image?set 1x"></picture>',
    '<svg><image href="/image?svg"/></svg>',
    '<input type=image src="/image?input">',
    '<video poster="/image?poster"></video>',
    '<div style="background: url(/image?background)">x</div>',
  ];
  try {
    const { proxied, direct } = await bothWays({ url: `http://localhost:${port}`, port }, async (origin) => {
      const page = (await far.newPage()) as Page;
      const images: Response[] = [];
      page.on('response', (response) => response.url().includes('/image') && images.push(response));
      await page.goto(origin);
      await page.evaluate(`document.body.innerHTML = ${JSON.stringify(shown.join(''))}`);
      await expect.poll(() => images.length).toBe(shown.length);
      await Promise.all(images.map((image) => image.finished()));
      // Chromium discards images that no document shows.
      await page.evaluate(`document.body.innerHTML = ''`);
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const bodies = images.map(async (image) => [new URL(image.url()).search, (await image.body()).length]);
      const found = (await Promise.all(bodies)).sort();
      await page.close();
      return found;
    });
    expect(proxied).toEqual(direct);
    expect(direct.map(([, length]) => length)).not.toContain(0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
