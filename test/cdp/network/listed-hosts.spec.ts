import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { type DevServer, LARGE_BYTES } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';
import { fullLength, slowIf } from '../../support/property-runs.ts';

test('loads documents with their assets', { tag: '@loads:network-proxy' }, async ({ proxied, dev }) => {
  const page = await (await proxied()).newPage();
  const response = await page.goto(dev.url);
  expect(response?.status()).toBe(200);
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
  expect(await page.evaluate('window.app')).toBe('loaded');
  expect(await page.evaluate('document.images[0].naturalWidth')).toBe(7);
});

test('supports fetch with every method and body', async ({ proxied, dev }) => {
  const page = await (await proxied()).newPage();
  await page.goto(dev.url);
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const body = ['GET', 'HEAD'].includes(method) ? undefined : `body of ${method} ü`;
    const text = await page.evaluate(
      async ({ method, body }) => await (await fetch('/echo', { method, ...(body && { body }) })).text(),
      { method, body },
    );
    const seen = dev.seen('/echo');
    expect(seen?.method).toBe(method);
    expect(seen?.body.toString()).toBe(body ?? '');
    if (method === 'HEAD') expect(text).toBe('');
    else expect(JSON.parse(text)).toMatchObject({ method, body: Buffer.from(body ?? '').toString('base64') });
  }
});

test('sends bodies that are binary, large, blobs, or forms with files', async ({ proxied, dev }) => {
  const page = await (await proxied()).newPage();
  await page.goto(dev.url);
  const bytes = await page.evaluate(async () => {
    const bytes = new Uint8Array(256).map((_, index) => index);
    await fetch('/echo', { method: 'POST', body: bytes });
    return [...bytes];
  });
  expect([...(dev.seen('/echo')?.body ?? [])]).toEqual(bytes);
  await page.evaluate(() => fetch('/echo', { method: 'POST', body: new Blob(['a blob ', 'in pieces']) }));
  expect(dev.seen('/echo')?.body.toString()).toBe('a blob in pieces');
  await page.evaluate(() => fetch('/echo', { method: 'POST', body: new Uint8Array(5_000_000).fill(65) }));
  expect(dev.seen('/echo')?.body.length).toBe(5_000_000);
  await page.evaluate(() => {
    const form = new FormData();
    form.append('name', 'Ada');
    form.append('file', new File([new Uint8Array([0, 255, 128])], 'a.bin'));
    return fetch('/echo', { method: 'POST', body: form });
  });
  expect(dev.seen('/echo')?.body.includes(Buffer.from([0, 255, 128]))).toBe(true);
  await page.setContent(
    `<form action="${dev.url}/echo" method="post" enctype="multipart/form-data"><input name=f type=file></form>`,
  );
  await page.setInputFiles('input', {
    name: 'b.bin',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from([9, 254, 8]),
  });
  await Promise.all([page.waitForURL('**/echo'), page.evaluate('document.forms[0].submit()')]);
  expect(dev.seen('/echo')?.body.includes(Buffer.from([9, 254, 8]))).toBe(true);
});

test('opens WebSockets of pages without an address, which a test has filled', async ({ proxied, dev }) => {
  const context = await proxied();
  const page = await context.newPage();
  const socket = `new Promise((resolve, reject) => {
    const socket = new WebSocket('${dev.url.replace('http', 'ws')}/own');
    socket.onmessage = () => { socket.onmessage = ({ data }) => resolve(data); socket.send('echo'); };
    socket.onclose = () => reject(new Error('closed'));
  })`;
  expect(await page.evaluate(socket)).toBe('echo');
  expect(dev.upgrades.at(-1)?.origin).toBe('null');
  await page.goto('data:text/html,<p>');
  expect(await page.evaluate(socket)).toBe('echo');
  await page.goto('about:blank');
  await page.setContent('<iframe sandbox=allow-scripts srcdoc="<p>"></iframe>');
  expect(await page.evaluate(socket)).toBe('echo');
});

test('a page from elsewhere opens no WebSockets, whatever it has no address or origin for', async ({ far, dev }) => {
  const attempt = `new Promise((resolve) => {
    const socket = new WebSocket('${dev.url.replace('http', 'ws').replace('localhost', LISTED)}/own');
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('refused');
  })`;
  await far.route('http://foreign.example/**', async (route) => {
    const headers = { 'content-security-policy': 'sandbox allow-scripts allow-popups' };
    const body = '<iframe sandbox=allow-scripts srcdoc="<p>"></iframe>';
    await route.fulfill({ contentType: 'text/html', headers, body });
  });
  const page = await far.newPage();
  expect(await page.evaluate(attempt)).toBe('open');
  await page.goto('http://foreign.example/');
  for (const frame of page.frames()) expect(await frame.evaluate(attempt), frame.url()).toBe('refused');
  const opened = page.waitForEvent('popup');
  await page.evaluate("void window.open('about:blank')");
  expect(await (await opened).evaluate(attempt)).toBe('refused');
  await page.evaluate("location.href = 'about:blank'");
  await expect(page).toHaveURL('about:blank');
  expect(await page.evaluate(attempt)).toBe('refused');
  expect(dev.upgrades).toHaveLength(1);
});

test('a HAR has the headers of a WebSocket’s handshake', async ({ proxied, dev }, testInfo) => {
  const path = testInfo.outputPath('network.har');
  const context = await proxied('<loopback>', { recordHar: { path } });
  const page = await context.newPage();
  await page.goto(dev.url);
  const url = `${dev.url.replace('http', 'ws')}/own`;
  await page.evaluate((to) => new Promise((opened) => new WebSocket(to).addEventListener('open', opened)), url);
  await context.close();
  type Entry = { request: { url: string; headers: { name: string; value: string }[] } };
  const { entries }: { entries: Entry[] } = JSON.parse(readFileSync(path, 'utf8')).log;
  const sent = entries.find(({ request }) => request.url === url)?.request.headers ?? [];
  expect(Object.fromEntries(sent.map(({ name, value }) => [name.toLowerCase(), value]))).toMatchObject({
    connection: 'Upgrade',
    upgrade: 'websocket',
    host: new URL(dev.url).host,
    'sec-websocket-version': '13',
    'sec-websocket-key': expect.stringMatching(/==$/),
  });
});

test('sends and sets cookies, several at the same time', async ({ proxied, dev }) => {
  const context = await proxied();
  const page = await context.newPage();
  await page.goto(dev.url);
  await page.evaluate(() => fetch('/cookies'));
  expect((await context.cookies()).map(({ name, value, httpOnly }) => ({ name, value, httpOnly }))).toEqual([
    { name: 'first', value: '1', httpOnly: false },
    { name: 'second', value: '2', httpOnly: true },
    { name: 'third', value: '3', httpOnly: false },
  ]);
  await page.evaluate(() => fetch('/echo'));
  expect(dev.seen('/echo')?.headers.cookie).toBe('first=1; second=2; third=3');
  await page.evaluate(() => fetch('/echo', { credentials: 'omit' }));
  expect(dev.seen('/echo')?.headers.cookie).toBeUndefined();
  const response = await page.goto(`${dev.url}/cookies`);
  expect(await response?.headersArray()).toContainEqual({ name: 'set-cookie', value: 'first=1; Path=/' });
});

test('follows redirects to listed hosts, and to one that is not listed', async ({ proxied, dev, other }) => {
  const context = await proxied(`localhost:${dev.port},127.0.0.1:${other.port}`);
  const page = await context.newPage();
  await page.goto(`${dev.url}/redirect?to=/echo`);
  expect(page.url()).toBe(`${dev.url}/echo`);
  expect(dev.seen('/echo')?.headers.cookie).toBe('hop=1');
  const response = await page.goto(
    `${dev.url}/redirect?to=${encodeURIComponent(`http://127.0.0.1:${other.port}/status?code=200`)}`,
  );
  expect(await response?.text()).toBe('status 200');
  expect(response?.request().redirectedFrom()?.url()).toContain('/redirect');
  const posted = await page
    .goto(dev.url)
    .then(() =>
      page.evaluate(async () =>
        (await fetch('/redirect?status=307&to=/echo', { method: 'POST', body: 'again' })).json(),
      ),
    );
  expect(posted).toMatchObject({ method: 'POST', body: Buffer.from('again').toString('base64') });
  await expect(page.goto(`${dev.url}/redirect?to=${encodeURIComponent(`${other.url}/echo`)}`)).rejects.toThrow('net::');
  expect(other.seen('/echo')).toBeUndefined();
});

test('passes on 204, 304, 1xx, errors, resets and refused connections', async ({ proxied, dev, other }) => {
  const page = await (await proxied()).newPage();
  await page.goto(dev.url);
  for (const status of [204, 304, 400, 404, 500, 503]) {
    const seen = await page.evaluate(async (status) => {
      const answer = await fetch(`/status?code=${status}`);
      return { status: answer.status, text: await answer.text(), mark: answer.headers.get('x-mark') };
    }, status);
    expect(seen).toEqual({ status, text: [204, 304].includes(status) ? '' : `status ${status}`, mark: 'here' });
  }
  expect(await page.evaluate(async () => (await fetch('/early')).text())).toBe('after 1xx');
  expect(await page.evaluate(async () => (await fetch('/stream')).text())).toBe('one,two');
  expect(await page.evaluate(async () => await fetch('/reset').catch((error) => error.message))).toBe(
    'Failed to fetch',
  );
  await other.close();
  const refused = await page.context().newPage();
  await expect(refused.goto(other.url)).rejects.toThrow('net::ERR_CONNECTION_REFUSED');
  const failure = page.waitForEvent('requestfailed');
  expect(
    await page.evaluate(
      async (url) => await fetch(url).catch((error) => error.message),
      dev.url.replace(String(dev.port), String(other.port)),
    ),
  ).toBe('Failed to fetch');
  expect((await failure).failure()?.errorText).toBe('net::ERR_CONNECTION_REFUSED');
});

test('accepts an untrusted certificate only with ignoreHTTPSErrors', async ({ proxied, secure }) => {
  const trusting = await (await proxied('<loopback>', { ignoreHTTPSErrors: true })).newPage();
  await trusting.goto(secure.url);
  await expect(trusting.locator('h1')).toHaveText('Dev');
  const strict = await (await proxied()).newPage();
  await expect(strict.goto(secure.url)).rejects.toThrow('net::');
});

/** Its address at the host that the browser of `far` reaches through the proxy alone: no emulator is on the way. */
const listed = ({ port }: DevServer) => `http://${LISTED}:${port}`;

test('supports large responses and downloads', async ({ far, dev }) => {
  test.slow();
  const page = await far.newPage();
  await page.goto(listed(dev));
  // A worker's response crosses the connection in one message.
  const received = page.evaluate(`new Promise((resolve) => {
    const script = "fetch('${listed(dev)}/large').then((answer) => answer.arrayBuffer()).then(({ byteLength }) => postMessage(byteLength))";
    new Worker(URL.createObjectURL(new Blob([script]))).onmessage = ({ data }) => resolve(data);
  })`);
  expect(await received).toBe(LARGE_BYTES);
  // There is no such limit in the other direction (transport/playwright.spec.ts: a message of more than 100 MB).
  const sent = fullLength(80_000_000, 6_000_000);
  await page.evaluate(
    (bytes) => fetch('/size', { method: 'POST', body: new Uint8Array(bytes).fill(65) }).catch(String),
    sent,
  );
  expect(dev.seen('/size')?.body.length).toBe(sent);
  await page.setContent(`<a href="${listed(dev)}/file">get</a>`);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('get').click()]);
  expect(readFileSync(await download.path(), 'utf8')).toBe('a download');
});

/**
 * Larger than a message. A body that takes longer than a moment goes to the page the same way: a smaller one is held
 * until the page has its head (`&held`). streams.spec.ts has a body that is larger than a message.
 */
const HUGE_BYTES = 75_000_000;
const HELD_BYTES = fullLength(HUGE_BYTES, 6_000_000);

/** What a page sees of a body: its length, and whether each byte is correct; and how it lets the server go on. */
const LOOK = `window.look = (buffer) => {
  const bytes = new Uint8Array(buffer);
  let wrong = bytes.length;
  while (wrong > 0 && bytes[wrong - 1] === (wrong - 1) % 251) wrong--;
  return { length: bytes.length, wrong: wrong - 1 };
};
window.release = async () => { while (!(await fetch('/release')).ok); }`;

test('passes a response larger than a message to fetch', async ({ far, dev, other }) => {
  test.slow();
  const page = await far.newPage();
  await page.addInitScript(LOOK);
  await page.goto(listed(dev));
  for (const [bytes, query] of [
    ...fullLength([[HUGE_BYTES, 'told'] as const], []),
    [HELD_BYTES, 'told&held'],
    [HELD_BYTES, 'held&zipped'],
  ] as const) {
    const fetched = await page.evaluate(`(async () => {
      const answer = await fetch('/huge?bytes=${bytes}&${query}#part');
      const { url, type, redirected, status, ok } = answer;
      if (url.includes('held')) await release();
      const headers = [answer.headers.get('content-type'), answer.headers.get('content-length')];
      return { url, type, redirected, status, ok, headers, seen: look(await answer.arrayBuffer()) };
    })()`);
    expect(fetched).toEqual({
      url: `${listed(dev)}/huge?bytes=${bytes}&${query}`,
      type: 'basic',
      redirected: false,
      status: 200,
      ok: true,
      headers: ['application/octet-stream', query.startsWith('told') ? String(bytes) : null],
      seen: { length: bytes, wrong: -1 },
    });
  }
  const across = `fetch(new Request('${listed(other)}/huge?bytes=75000000', { method: 'POST', body: 'x' }))`;
  await expect(page.evaluate(across)).rejects.toThrow('Failed to fetch');
  // Smaller responses still work, with the same function.
  expect(await page.evaluate(() => fetch('/stream').then((answer) => answer.text()))).toBe('one,two');
});

test('passes a response larger than a message to XMLHttpRequest', slowIf(true), async ({ far, dev }) => {
  test.slow();
  const page = await far.newPage();
  await page.addInitScript(LOOK);
  await page.goto(listed(dev));
  for (const type of ['arraybuffer', 'blob', 'text']) {
    const got = await page.evaluate(`(async () => {
      const events = [];
      const request = new XMLHttpRequest();
      await new Promise((resolve) => {
        for (const type of ['load', 'error', 'loadend']) request['on' + type] = () => events.push(type) && type === 'loadend' && resolve();
        request.onreadystatechange = () => {
          events.push(request.readyState);
          if (request.readyState === 2) release();
        };
        request.open('GET', '/huge?bytes=${HELD_BYTES}&told&held');
        request.responseType = '${type}';
        request.send();
      });
      const { response } = request;
      const isText = typeof response === 'string';
      return { events, size: isText ? new Set(response.slice(-1000)).size : look(response instanceof Blob ? await response.arrayBuffer() : response), isText, same: !isText || request.responseText === response };
    })()`);
    const isText = type === 'text';
    expect((got as { events: unknown[] }).events.filter((event, at, all) => event !== all[at - 1])).toEqual([
      1,
      2,
      3,
      4,
      'load',
      'loadend',
    ]);
    expect(got).toMatchObject({
      size: isText ? expect.any(Number) : { length: HELD_BYTES, wrong: -1 },
      isText,
      same: true,
    });
  }
  // Smaller responses still work, with the same class.
  const small = await page.evaluate(`new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.onload = () => resolve([request.responseText, request instanceof XMLHttpRequest, request.constructor === XMLHttpRequest]);
    request.open('GET', '/stream');
    request.send();
  })`);
  expect(small).toEqual(['one,two', true, true]);
});

test('handles a large response that breaks, is cancelled, or cannot be received', async ({ proxied, dev }) => {
  test.slow();
  const page = await (await proxied()).newPage();
  await page.goto(dev.url);
  await expect(
    page.evaluate(async () => (await fetch('/huge?bytes=150000000&told&broken=6000000')).arrayBuffer()),
  ).rejects.toThrow('TypeError');
  const ends = await page.evaluate(`new Promise((resolve) => {
    const events = [];
    const request = new XMLHttpRequest();
    for (const type of ['load', 'error', 'loadend']) request.addEventListener(type, () => events.push(type) && type === 'loadend' && resolve(events));
    request.open('GET', '/huge?bytes=150000000&told&broken=6000000');
    request.send();
  })`);
  expect(ends).toEqual(['error', 'loadend']);

  const aborted = page.evaluate(`(async () => {
    const abort = new AbortController();
    const reader = (await fetch('/huge?bytes=1000000000&told', { signal: abort.signal })).body.getReader();
    const { value } = await reader.read();
    abort.abort();
    return [value.length > 0, await reader.read().catch(({ name }) => name)];
  })()`);
  expect(await aborted).toEqual([true, 'AbortError']);
  await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);
  await page.evaluate(async () => (await fetch('/huge?bytes=1000000000&told')).body?.cancel());
  await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);
  await page.evaluate(async () => (await fetch('/huge?bytes=1000000000&told')).status);
  expect(dev.seen('/huge')?.closed).toBe(false);
  await page.goto('about:blank');
  await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);

  await page.goto(dev.url);
  const [said] = await Promise.all([
    page.waitForEvent('console', (message) => message.text().startsWith('poolwright')),
    page.evaluate(
      `new Promise((resolve) => { const image = new Image(); image.onerror = resolve; image.src = '/huge?bytes=80000000'; })`,
    ),
  ]);
  expect(said.text()).toMatch(
    /^poolwright: localhost:\d+ was reached .* the response is larger than 70 MB: only fetch\(\)/,
  );
  await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);
});

test("respects the user's own routes, listeners and headers", async ({ proxied, dev }) => {
  const context = await proxied();
  const page = await context.newPage();
  await page.goto(dev.url);
  await context.route('**/echo', (route) =>
    route.continue({ headers: { ...route.request().headers(), 'x-own': 'yes' }, method: 'PUT', postData: 'changed' }),
  );
  const [response] = await Promise.all([page.waitForResponse('**/echo'), page.evaluate(() => fetch('/echo'))]);
  expect(await response.json()).toMatchObject({
    method: 'PUT',
    body: Buffer.from('changed').toString('base64'),
    headers: { 'x-own': 'yes' },
  });
  await page.route('**/echo', (route) => route.fallback());
  await page.evaluate(() => fetch('/echo'));
  expect(dev.seen('/echo')?.headers['x-own']).toBe('yes');
  await page.route('**/status*', (route) => route.fulfill({ body: 'mine' }));
  expect(await page.evaluate(async () => (await fetch('/status?code=500')).text())).toBe('mine');
  await page.route('**/app.js', (route) => route.abort());
  await page.goto(dev.url);
  expect(await page.evaluate('window.app')).toBeUndefined();
  await page.unrouteAll();
  await context.unrouteAll();
  await context.addCookies([{ name: 'from', value: 'test', url: dev.url }]);
  const [plain] = await Promise.all([page.waitForResponse('**/echo'), page.evaluate(() => fetch('/echo'))]);
  expect(await plain.json()).toMatchObject({ method: 'GET' });
  expect(await plain.request().allHeaders()).toMatchObject({ cookie: 'from=test', referer: `${dev.url}/` });
  expect(await plain.allHeaders()).toMatchObject({ 'content-type': 'application/json' });
  expect(await page.request.get(`${dev.url}/echo`).then((answer) => answer.json())).toMatchObject({
    headers: { cookie: 'from=test' },
  });
});

test('records, replays and updates HAR files', async ({ proxied, dev }, testInfo) => {
  const path = testInfo.outputPath('dev.har');
  const recording = await proxied('<loopback>', { recordHar: { path } });
  const page = await recording.newPage();
  await page.goto(dev.url);
  const echo = () => fetch('/echo', { method: 'POST', body: 'recorded' }).then((answer) => answer.text());
  const recorded = await page.evaluate(echo);
  await recording.close();
  const { entries } = JSON.parse(readFileSync(path, 'utf8')).log;
  // Playwright does not report the browser's own request for an icon.
  const seen = dev.requests
    .map(({ path }) => path)
    .filter((path) => path !== '/favicon.ico')
    .sort();
  expect(entries.map(({ request }: { request: { url: string } }) => new URL(request.url).pathname).sort()).toEqual(
    seen,
  );

  const replaying = await proxied();
  await replaying.routeFromHAR(path, { notFound: 'fallback' });
  const replayed = await replaying.newPage();
  dev.requests.length = 0;
  await replayed.goto(dev.url);
  expect(await replayed.evaluate('window.app')).toBe('loaded');
  expect(await replayed.evaluate(echo)).toBe(recorded);
  expect(dev.requests.filter(({ path }) => path !== '/favicon.ico')).toEqual([]);
  // Requests missing from the file go to the server.
  expect(await replayed.evaluate(async () => (await fetch('/status?code=404')).text())).toBe('status 404');

  const updating = await proxied();
  const updated = testInfo.outputPath('updated.har');
  await updating.routeFromHAR(updated, { update: true, url: '**/echo' });
  const updatingPage = await updating.newPage();
  await updatingPage.goto(dev.url);
  await updatingPage.evaluate(echo);
  await updating.close();
  expect(JSON.parse(readFileSync(updated, 'utf8')).log.entries).toMatchObject([{ request: { method: 'POST' } }]);
});

test('sends the server the same headers as without a proxy', async ({ proxied, dev, start, connect }) => {
  const { api } = await start({ allowLoopback: true });
  const direct = await (await connect((await api.create()).body.cdpUrl)).newContext();
  const localized = { locale: 'fr-FR', extraHTTPHeaders: { 'x-own': 'yes' } };
  const visit = async (context: BrowserContext) => {
    dev.requests.length = 0;
    const page = await context.newPage();
    await page.goto(dev.url);
    await page.evaluate(() => fetch('/echo', { method: 'POST', body: 'x' }));
    await page.evaluate('navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready)');
    const byPath = dev.requests.map(({ path, headers }) => [path, headers] as const);
    for (const [path, headers] of byPath) {
      // These depend on the connection, or are not added; a worker's script is requested with its page's headers.
      for (const name of Object.keys(headers))
        if (/^(sec-fetch-.*|.*connection|accept-encoding)$/.test(name)) delete headers[name];
      if (path === '/sw.js') for (const name of ['accept-language', 'cache-control']) delete headers[name];
    }
    await page.close();
    return Object.fromEntries(byPath);
  };
  const withoutProxy = await visit(direct);
  expect(Object.keys(withoutProxy)).toEqual(expect.arrayContaining(['/', '/style.css', '/app.js', '/echo', '/sw.js']));
  expect(withoutProxy['/']?.['accept-language']).toBe('en-US');
  expect(await visit(await proxied())).toEqual(withoutProxy);
  const browser = direct.browser() as Browser;
  expect(await visit(await proxied('<loopback>', localized))).toEqual(await visit(await browser.newContext(localized)));
});

test('does not reach hosts that are not listed', async ({ proxied, dev, other }) => {
  const page = await (await proxied(`localhost:${dev.port}`)).newPage();
  await page.goto(dev.url);
  await expect(page.evaluate((url) => fetch(url), `${other.url}/cors`)).rejects.toThrow('Failed to fetch');
  await page.route('**/*', (route) => route.continue());
  await expect(page.evaluate((url) => fetch(url), `${other.url}/cors`)).rejects.toThrow('Failed to fetch');
  expect(other.requests).toEqual([]);
});

test("respects the other server's CORS headers", async ({ proxied, dev, other }) => {
  const page = await (await proxied()).newPage();
  await page.goto(dev.url);
  const text = await page.evaluate(
    async (url) => (await fetch(url, { method: 'PUT', headers: { 'x-own': '1' } })).text(),
    `${other.url}/cors`,
  );
  expect(text).toBe('shared');
  await expect(page.evaluate((url) => fetch(url), `${other.url}/echo`)).rejects.toThrow('Failed to fetch');
  await expect(page.evaluate((url) => fetch(url, { method: 'PUT' }), `${other.url}/status?code=200`)).rejects.toThrow(
    'Failed to fetch',
  );
  expect(other.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'OPTIONS /cors',
    'PUT /cors',
    'GET /echo',
    'OPTIONS /status',
  ]);
});

test('sends httpCredentials only where they are requested', async ({ proxied, dev }) => {
  const page = await (
    await proxied('<loopback>', { httpCredentials: { username: 'ada', password: 'secret' } })
  ).newPage();
  const response = await page.goto(`${dev.url}/private`);
  expect(response?.status()).toBe(200);
  await expect(page.locator('body')).toHaveText('inside');
  await page.goto(`${dev.url}/echo`);
  expect(dev.seen('/echo')?.headers.authorization).toBeUndefined();
  const wrong = await proxied('<loopback>', { httpCredentials: { username: 'ada', password: 'wrong' } });
  expect((await (await wrong.newPage()).goto(`${dev.url}/private`))?.status()).toBe(401);
  expect((await (await (await proxied()).newPage()).goto(`${dev.url}/private`))?.status()).toBe(401);
});

test('supports workers, frames and popups', async ({ proxied, dev, other }) => {
  const context = await proxied();
  const page = await context.newPage();
  await page.goto(dev.url);
  const fromWorker = page.evaluate(`new Promise((resolve) => {
    const worker = new Worker('/worker.js');
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage('/status?code=200');
  })`);
  expect(await fromWorker).toBe('status 200');
  await page.evaluate(
    `document.body.insertAdjacentHTML('beforeend', '<iframe src="http://127.0.0.1:${other.port}/">')`,
  );
  await expect(page.frameLocator('iframe').locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
  const [popup] = await Promise.all([context.waitForEvent('page'), page.evaluate(`void open('/')`)]);
  await expect(popup.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
});

test('reaches nothing when offline', async ({ proxied, dev }) => {
  const context = await proxied();
  const page = await context.newPage();
  await context.setOffline(true);
  await expect(page.goto(dev.url)).rejects.toThrow('net::ERR_INTERNET_DISCONNECTED');
  await context.setOffline(false);
  await page.goto(dev.url);
});

test('supports service workers: their script and their requests', async ({ proxied, dev }) => {
  const page = await (await proxied()).newPage();
  await page.goto(dev.url);
  await page.evaluate(`(async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
    await navigator.serviceWorker.register('/sw.js');
    await controlled;
  })()`);
  expect(await page.evaluate(async () => (await fetch('/through')).text())).toBe('sw:GET');
});

test('aborts a request that is cancelled, or whose page is closed', async ({ proxied, dev }) => {
  const context = await proxied();
  const page = await context.newPage();
  await page.goto(dev.url);
  await page.evaluate(`window.abort = new AbortController(), void fetch('/hang', abort).catch(() => undefined)`);
  await expect.poll(() => dev.seen('/hang')?.closed).toBe(false);
  await page.evaluate('abort.abort()');
  await expect.poll(() => dev.seen('/hang')?.closed).toBe(true);
  await page.evaluate(`void fetch('/hang').catch(() => undefined)`);
  await expect.poll(() => dev.seen('/hang')?.closed).toBe(false);
  await page.close();
  await expect.poll(() => dev.seen('/hang')?.closed).toBe(true);
});

test.describe('WebSockets', () => {
  /** Opens one in the page; `talk.got` has what it received, `talk.ended` how it ended. */
  const OPEN = `(address, ...rest) => {
    const socket = new WebSocket(address, ...rest);
    window.talk = { socket, got: [], errors: 0 };
    socket.onmessage = ({ data }) => talk.got.push(data);
    socket.addEventListener('error', () => talk.errors++);
    talk.ended = new Promise((resolve) => {
      socket.onclose = ({ code, reason, wasClean }) => resolve({ code, reason, wasClean, errors: talk.errors });
    });
    return new Promise((resolve) => { socket.onopen = () => resolve('open'); talk.ended.then(() => resolve('closed')); });
  }`;
  const open = (page: Page, address: string, protocols?: string[]) =>
    page.evaluate(`(${OPEN})(${JSON.stringify(address)}${protocols ? `, ${JSON.stringify(protocols)}` : ''})`);
  const got = (page: Page, count: number) =>
    page.waitForFunction(`talk.got.length >= ${count}`).then(() => page.evaluate('talk.got'));

  test('closes an open one when the connection closes', async ({ proxied, dev }) => {
    const context = await proxied();
    const page = await context.newPage();
    await page.goto(dev.url);
    expect(await open(page, dev.url.replace('http', 'ws'))).toBe('open');
    expect(dev.sockets()).toBe(1);
    await context.browser()?.close();
    await expect.poll(() => dev.sockets()).toBe(0);
  });

  test('sends text and binary in both directions, with protocol, origin and cookies', async ({ proxied, dev }) => {
    const context = await proxied();
    const page = await context.newPage();
    await page.goto(`${dev.url}/cookies`);
    await page.goto(dev.url);
    expect(await open(page, `${dev.url.replace('http', 'ws')}/hmr?token=1`, ['vite-hmr', 'other'])).toBe('open');
    const [hello] = (await got(page, 1)) as [string];
    expect(JSON.parse(hello)).toMatchObject({
      path: '/hmr?token=1',
      protocol: 'vite-hmr',
      headers: {
        origin: dev.url,
        cookie: expect.stringMatching(/^(?=.*first=1)(?=.*second=2)(?=.*third=3).{26}$/),
        'user-agent': expect.stringContaining('Chrome'),
      },
    });
    expect(await page.evaluate('[talk.socket.protocol, talk.socket.readyState, talk.socket.url]')).toEqual([
      'vite-hmr',
      1,
      `${dev.url.replace('http', 'ws')}/hmr?token=1`,
    ]);
    expect(await page.evaluate('[talk.socket instanceof WebSocket, talk.socket.OPEN, WebSocket.name]')).toEqual([
      true,
      1,
      'WebSocket',
    ]);
    await page.evaluate(
      `talk.socket.send('ü'), talk.socket.send(new Blob(['in a blob'])), talk.socket.send('after it')`,
    );
    await got(page, 4);
    expect(await page.evaluate('talk.got[1]')).toBe('ü');
    expect(await page.evaluate('talk.got[2].text()')).toBe('in a blob');
    expect(await page.evaluate('talk.got[3]')).toBe('after it');
    await page.evaluate(
      `talk.socket.binaryType = 'arraybuffer', talk.socket.send(new Uint8Array([9, 0, 255, 128]).subarray(1))`,
    );
    await got(page, 5);
    expect(await page.evaluate('[...new Uint8Array(talk.got[4])]')).toEqual([0, 255, 128]);
    await page.evaluate(`talk.socket.send(new Uint8Array(3_000_000).fill(7))`);
    await got(page, 6);
    expect(await page.evaluate('talk.got[5].byteLength')).toBe(3_000_000);
    await page.evaluate(`talk.socket.send('bye')`);
    expect(await page.evaluate('talk.ended')).toEqual({ code: 4001, reason: 'as asked', wasClean: true, errors: 0 });
  });

  test('closes in every way', async ({ proxied, dev, other }) => {
    const page = await (await proxied()).newPage();
    await page.goto(dev.url);
    const address = dev.url.replace('http', 'ws');
    await open(page, address);
    await page.evaluate(`talk.socket.close(3001, 'enough')`);
    expect(await page.evaluate('talk.ended')).toEqual({ code: 3001, reason: 'enough', wasClean: true, errors: 0 });
    await open(page, address);
    await page.evaluate(`talk.socket.send('cut')`);
    expect(await page.evaluate('talk.ended')).toEqual({ code: 1006, reason: '', wasClean: false, errors: 0 });
    await other.close();
    expect(await open(page, other.url.replace('http', 'ws'))).toBe('closed');
    expect(await page.evaluate('talk.ended')).toEqual({ code: 1006, reason: '', wasClean: false, errors: 1 });
    await open(page, address);
    expect(dev.sockets()).toBe(1);
    await page.goto('about:blank');
    await expect.poll(() => dev.sockets()).toBe(0);
  });

  test('rejects invalid requests as without a proxy', async ({ proxied, dev }) => {
    const page = await (await proxied()).newPage();
    await page.goto(dev.url);
    for (const [script, name] of [
      [`new WebSocket()`, 'TypeError'],
      [`new WebSocket('ws://localhost/#hash', ['a', 'a'])`, 'SyntaxError'],
      [`new WebSocket('ws://localhost/', ['a b'])`, 'SyntaxError'],
      [`new WebSocket('ws://localhost:1/').send('early')`, 'InvalidStateError'],
      [`new WebSocket('ws://localhost:1/').close(1001)`, 'InvalidAccessError'],
      [`new WebSocket('ws://localhost:1/').close(1000, 'x'.repeat(124))`, 'SyntaxError'],
    ]) {
      expect(await page.evaluate(`(() => { try { ${script}; } catch (error) { return error.name; } })()`), script).toBe(
        name,
      );
    }
  });

  test("respects the user's own listeners and routes", async ({ proxied, dev }) => {
    const context = await proxied();
    const page = await context.newPage();
    await page.goto(dev.url);
    const address = `${dev.url.replace('http', 'ws')}/`;
    const [socket] = await Promise.all([page.waitForEvent('websocket'), open(page, address)]);
    expect(socket.url()).toBe(address);
    const [sent, received] = await Promise.all([
      socket.waitForEvent('framesent'),
      socket.waitForEvent('framereceived', ({ payload }) => payload === 'ping'),
      page.evaluate(`talk.socket.send('ping')`),
    ]);
    expect([sent.payload, received.payload]).toEqual(['ping', 'ping']);
    await Promise.all([socket.waitForEvent('close'), page.evaluate('talk.socket.close()')]);

    await page.routeWebSocket('**/*', (route) => {
      const server = route.connectToServer();
      route.onMessage((message) => server.send(`${message} there`));
      server.onMessage((message) => route.send(`${message} and back`));
    });
    await page.goto(dev.url);
    await open(page, address);
    await page.evaluate(`talk.socket.send('there')`);
    expect(((await got(page, 2)) as string[])[1]).toBe('there there and back');
  });

  test('connects only to listed hosts, and only in documents of listed hosts', async ({ proxied, dev, other }) => {
    const page = await (await proxied(`localhost:${dev.port}`)).newPage();
    await page.goto(dev.url);
    expect(await open(page, other.url.replace('http', 'ws'))).toBe('closed');
    expect(other.requests).toEqual([]);
    const names = `Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith('network'))`;
    expect(await page.evaluate(names)).toEqual([]);
    await page.route('http://elsewhere.example/', (route) => route.fulfill({ contentType: 'text/html', body: 'else' }));
    await page.goto('http://elsewhere.example/');
    expect(await page.evaluate(names)).toEqual([]);
    expect(await page.evaluate(`Function.prototype.toString.call(WebSocket)`)).toBe(
      'function WebSocket() { [native code] }',
    );
    expect(await page.evaluate(`Object.getOwnPropertySymbols(globalThis).map(String)`)).toEqual([]);
  });

  test('connects over TLS with an untrusted certificate, also in frames', async ({ proxied, secure }) => {
    const page = await (await proxied('<loopback>', { ignoreHTTPSErrors: true })).newPage();
    await page.goto(secure.url);
    expect(await open(page, secure.url.replace('http', 'ws'))).toBe('open');
    const strict = await (await proxied()).newPage();
    await strict.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<iframe></iframe>' }));
    await strict.goto(secure.url);
    expect(await open(strict, secure.url.replace('http', 'ws'))).toBe('closed');
  });
});
