import type { Page } from '@playwright/test';
import { expect, pageUrl, test } from '../../support/cdp/intent-fixtures.ts';

/** Servers that the test's own code visits are proxied; see `hostile-pages.spec.ts` for pages that get nothing. */

const VISIT = 'a page that the test goes to, with all that it asks of its server';
test(VISIT, { tag: '@loads:network-proxy' }, async ({ newContext, own, origins }) => {
  const context = await newContext();
  const page = await context.newPage();
  expect((await page.goto(own.url))?.status()).toBe(200);
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
  expect(await page.evaluate('window.app')).toBe('loaded');
  expect(await page.evaluate('document.images[0].naturalWidth')).toBe(7);
  expect(origins).toEqual([own.url]);

  await page.evaluate(() => fetch('/cookies'));
  const put = await page.evaluate(async () => (await fetch('/echo', { method: 'PUT', body: 'x' })).json());
  expect(put).toMatchObject({ method: 'PUT', headers: { cookie: 'first=1; second=2; third=3' } });
  const posted = await page.evaluate(async () =>
    (await fetch('/redirect?status=307&to=/echo', { method: 'POST', body: 'again' })).json(),
  );
  expect(posted).toMatchObject({ method: 'POST' });
  const heard = page.evaluate(`new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://' + location.host + '/own');
    socket.onmessage = () => { socket.onmessage = ({ data }) => resolve(data); socket.send('echo'); };
    socket.onclose = () => reject(new Error('closed'));
  })`);
  expect(await heard).toBe('echo');
  const fromWorkers = page.evaluate(`Promise.all([
    '/worker.js',
    URL.createObjectURL(new Blob(['onmessage = async ({ data }) => postMessage(await (await fetch(new URL(data, "${own.url}"))).text())'])),
  ].map((script) => new Promise((resolve) => {
    const worker = new Worker(script);
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage('/status?code=200');
  })))`);
  expect(await fromWorkers).toEqual(['status 200', 'status 200']);
  await page.evaluate(`(async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
    await navigator.serviceWorker.register('/sw.js');
    await controlled;
  })()`);
  expect(await page.evaluate(async () => (await fetch('/through')).text())).toBe('sw:GET');
});

for (const policy of ['', 'no-referrer', 'origin']) {
  test(`proxies links, forms, frames and popups of its server: ${policy || 'ordinary'} referrers`, async ({
    newContext,
    own,
  }) => {
    const html = `<meta name=referrer content=${policy}>
      <a id=link href="/page?html=linked">link</a>
      <a id=blank target=_blank href="/page?html=blank">blank</a>
      <form method=post action="/echo"><input name=a value=1></form>
      <iframe src="/page?html=framed"></iframe><iframe srcdoc="<img src=/pixel.svg>"></iframe>`;
    const start = `${own.url}/page?html=${encodeURIComponent(html)}`;
    const context = await newContext();
    const page = await context.newPage();
    await page.goto(start);
    await expect(page.frameLocator('iframe >> nth=0').locator('body')).toHaveText('framed');
    await expect(page.frameLocator('iframe >> nth=1').locator('img')).toHaveJSProperty('naturalWidth', 7);
    const blankFrame = page.evaluate(`(async () => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      return (await frame.contentWindow.fetch('${own.url}/status?code=200')).text();
    })()`);
    expect(await blankFrame).toBe('status 200');
    const [blank] = await Promise.all([context.waitForEvent('page'), page.click('#blank')]);
    await expect(blank.locator('body')).toHaveText('blank');
    const [opened] = await Promise.all([context.waitForEvent('page'), page.evaluate(`void open('/page?html=opened')`)]);
    await expect(opened.locator('body')).toHaveText('opened');
    const [written] = await Promise.all([
      context.waitForEvent('page'),
      page.evaluate(`open('').document.write('<img src="${own.url}/pixel.svg">')`),
    ]);
    await expect(written.locator('img')).toHaveJSProperty('naturalWidth', 7);
    await page.click('#link');
    await expect(page.locator('body')).toHaveText('linked');
    await page.reload();
    await expect(page.locator('body')).toHaveText('linked');
    await page.goBack();
    await expect(page.locator('#link')).toBeVisible();
    await page.goForward();
    await expect(page.locator('body')).toHaveText('linked');
    await page.goBack();
    await page.evaluate(`document.forms[0].submit()`);
    await expect(page.locator('body')).toContainText('"method":"POST"');
  });
}

test('proxies redirects of its server when the test navigates to it', async ({ newContext, own }) => {
  const page = await (await newContext()).newPage();
  await page.goto(`${own.url}/redirect?to=${encodeURIComponent('/redirect?to=/echo')}`);
  expect(page.url()).toBe(`${own.url}/echo`);
});

test('proxies a navigation from a foreign page, and back to it', async ({ newContext, own, foreign }) => {
  const page = await (await newContext()).newPage();
  await page.goto(pageUrl(foreign, 'foreign'));
  await page.goto(own.url);
  await expect(page.locator('h1')).toHaveText('Dev');
  await page.goBack();
  await expect(page.locator('body')).toHaveText('foreign');
  await page.goForward();
  await expect(page.locator('h1')).toHaveText('Dev');
});

test('proxies a frame that the test navigates there', async ({ newContext, own, foreign }) => {
  const page = await (await newContext()).newPage();
  await page.goto(pageUrl(foreign, '<iframe name=inner></iframe>'));
  await page.frame('inner')?.goto(`${own.url}/page?html=led`);
  await expect(page.frameLocator('iframe').locator('body')).toHaveText('led');
});

test('proxies several servers, each from the first navigation on', async ({ newContext, own, second, origins }) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(own.url);
  const read = (url: string) =>
    page.evaluate((url) => fetch(url).then((answer) => answer.text(), String), `${url}/cors`);
  expect(await read(second.url)).toContain('Failed to fetch');
  const other = await context.newPage();
  await other.goto(second.url);
  expect(await read(second.url)).toBe('shared');
  // From then on, its scripts can reach both, too.
  await page.reload();
  const both = [own, second].map(({ port }) => `ws://localhost:${port}/own`);
  const opened = await page.evaluate(
    `Promise.all(${JSON.stringify(both)}.map((url) => new Promise((resolve) => {
      const socket = new WebSocket(url);
      socket.onopen = () => resolve('open');
      socket.onclose = () => resolve('closed');
    })))`,
  );
  expect(opened).toEqual(['open', 'open']);
  expect(origins).toEqual([own.url, second.url]);
});

test("respects the user's own routes and credentials", async ({ newContext, own }) => {
  const context = await newContext({ httpCredentials: { username: 'ada', password: 'secret' } });
  const page = await context.newPage();
  await page.route('**/app.js', (route) => route.fulfill({ contentType: 'text/javascript', body: 'window.app = 1' }));
  await page.route('**/echo', (route) => route.continue({ headers: { ...route.request().headers(), 'x-own': 'yes' } }));
  await page.goto(own.url);
  expect(await page.evaluate('window.app')).toBe(1);
  const echoed = (await page.evaluate(() => fetch('/echo').then((answer) => answer.json()))) as { headers: object };
  expect(echoed.headers).toMatchObject({ 'x-own': 'yes' });
  expect((await page.goto(`${own.url}/private`))?.status()).toBe(200);
});

for (const [whose, options, languages] of [
  ["the browser's", {}, 'en-US'],
  ["the context's", { locale: 'de-AT' }, 'de-AT'],
] as const) {
  test(`sends its server ${whose} languages, from the first request on`, async ({ newContext, own }) => {
    const context = await newContext(options);
    const page = await context.newPage();
    await page.goto(own.url);
    const [popup] = await Promise.all([context.waitForEvent('page'), page.evaluate(`void open('/page?html=opened')`)]);
    await expect(popup.locator('body')).toHaveText('opened');
    expect(own.requests.map(({ path }) => path)).toEqual(expect.arrayContaining(['/', '/style.css', '/app.js']));
    for (const { path, headers } of own.requests) expect(headers, path).toMatchObject({ 'accept-language': languages });
  });
}

test('keeps the servers of each context separate', async ({ newContext, own, origins }) => {
  const [one, other] = [await newContext(), await newContext()];
  const went: Page = await one.newPage();
  await went.goto(own.url);
  const page = await other.newPage();
  // A page of that origin, but this context has not visited it: the route responds.
  await page.route('**/*', (route) => route.fulfill({ body: 'mine', contentType: 'text/html' }));
  await page.goto('http://app.localhost/');
  await page.unroute('**/*');
  const read = page.evaluate((url) => fetch(url).then((answer) => answer.text(), String), `${own.url}/cors`);
  expect(await read).toContain('Failed to fetch');
  expect(origins).toEqual([own.url, 'http://app.localhost']);
  expect(own.seen('/cors')).toBeUndefined();
});

test('refuses a server that is not running yet, like a local browser', async ({ newContext, own }) => {
  const page = await (await newContext()).newPage();
  await own.close();
  await expect(page.goto(own.url)).rejects.toThrow('net::ERR_CONNECTION_REFUSED');
});
