import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from '@playwright/test';
import { expect, pageUrl, test } from '../../support/cdp/auto-fixtures.ts';
import { type DevServer, startDevServer } from '../../support/cdp/dev-server.ts';

/**
 * The initiator of a request decides, not the address of the document that sends it; see `initiator-histories.spec.ts`.
 */

const NO_REFERRER = '<meta name=referrer content=no-referrer>';

/** Requests of others to the test's server. */
function stolen(own: DevServer): string[] {
  return own.requests.map(({ method, path }) => `${method} ${path}`).filter((request) => request.includes('stolen'));
}

/** Resolves when a request to `/stolen` has ended, proxied or not. */
function ended(context: BrowserContext): Promise<unknown> {
  return new Promise((resolve) => {
    for (const event of ['requestfailed', 'requestfinished'] as const) {
      context.on(event as 'requestfailed', (request) => request.url().includes('/stolen') && resolve(undefined));
    }
  });
}

/** A script that navigates its document after it has returned. */
const leave = (url: string) => `void setTimeout(() => { location.href = ${JSON.stringify(url)} })`;

/** A script that clicks a download link. */
const download = (href: string) =>
  `void Object.assign(document.createElement('a'), { href: ${JSON.stringify(href)}, download: 'a.txt' }).click()`;

/** A page of the test's server that contains a foreign frame. */
async function openApp(context: BrowserContext, own: DevServer, foreign: DevServer, inner = NO_REFERRER) {
  const page = await context.newPage();
  await page.goto(`${own.url}/page?html=${encodeURIComponent(`<iframe src="${pageUrl(foreign, inner)}"></iframe>`)}`);
  const frame = page.frames()[1];
  if (!frame) throw new Error('the foreign frame is missing');
  return { page, frame };
}

/** Written into an empty popup of a foreign frame. */
const WRITTEN: Record<string, string> = {
  'a form that posts': '<form method=post action="OWN/stolen"><input name=a></form>',
  'a form that gets': '<form action="OWN/stolen"><input name=a></form>',
  'a form that posts into a new window': '<form method=post target=_blank action="OWN/stolen"><input name=a></form>',
  'a link': '<a href="OWN/stolen">x</a>',
  'a link to a new window': '<a target=_blank href="OWN/stolen">x</a>',
  'a link to a new window that has an opener': '<a target=_blank rel=opener href="OWN/stolen">x</a>',
};

for (const [what, html] of Object.entries(WRITTEN)) {
  test(`does not proxy ${what} when a foreign frame has written it and blanks itself`, async ({
    newContext,
    own,
    foreign,
  }) => {
    const context = await newContext();
    const { frame } = await openApp(context, own, foreign);
    const end = ended(context);
    const content = `${NO_REFERRER}${html.replaceAll('OWN', own.url)}<script>setTimeout(() => {
      opener.location = 'about:blank';
      const it = document.querySelector('form, a');
      it.submit ? it.submit() : it.click();
    })</script>`;
    await frame.evaluate(`void open('about:blank').document.write(${JSON.stringify(content)})`);
    await end;
    expect(stolen(own)).toEqual([]);
  });
}

for (const again of ['reload', 'history'] as const) {
  test(`does not proxy a denied address when the test visits it again by ${again}`, async ({
    newContext,
    own,
    foreign,
  }) => {
    const context = await newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      page.evaluate(`void open('${pageUrl(foreign, NO_REFERRER)}')`),
    ]);
    await popup.waitForURL('**/page?*');
    const end = ended(context);
    await popup.evaluate(leave(`${own.url}/stolen`));
    await end;
    await expect(popup).toHaveURL('chrome-error://chromewebdata/');
    const failed = ended(context);
    if (again === 'history') await expect(() => popup.goBack()).toPass({ timeout: 60_000 });
    await (again === 'reload' ? popup.reload() : popup.goForward()).catch(() => undefined);
    await failed;
    expect(stolen(own)).toEqual([]);
  });
}

test('does not proxy what a redirect was refused when the test reloads it', async ({ newContext, own, foreign }) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(own.url);
  const end = ended(context);
  const away = `http://evil.example:${foreign.port}/redirect?to=${encodeURIComponent(`${own.url}/stolen`)}`;
  await page.evaluate(leave(away));
  await end;
  await expect(page).toHaveURL('chrome-error://chromewebdata/');
  await page.reload().catch(() => undefined);
  expect(stolen(own)).toEqual([]);
});

test('proxies a page again when its server was down and the test reloads it', async ({ newContext, own, foreign }) => {
  const page = await (await newContext()).newPage();
  await page.goto(pageUrl(foreign, ''));
  await own.close();
  const url = `${own.url}/page?html=back`;
  await expect(page.goto(url)).rejects.toThrow('net::ERR_CONNECTION_REFUSED');
  await expect(page).toHaveURL('chrome-error://chromewebdata/');
  const again = await startDevServer({ port: own.port });
  try {
    await page.reload();
    await expect(page.locator('body')).toHaveText('back');
  } finally {
    await again.close();
  }
});

for (const policy of ['', NO_REFERRER]) {
  test(`proxies a download link of its server${policy && ' without a referrer'}`, async ({ newContext, own }) => {
    const page = await (await newContext()).newPage();
    await page.goto(`${own.url}/page?html=${encodeURIComponent(policy)}`);
    for (const href of ['/file', `/redirect?to=${encodeURIComponent('/file')}`]) {
      const [file] = await Promise.all([page.waitForEvent('download'), page.evaluate(download(href))]);
      expect(await readFile(await file.path(), 'utf8')).toBe('a download');
    }
  });
}

test('does not proxy a download link that leads through a foreign server', async ({ newContext, own, foreign }) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(own.url);
  const there = `http://evil.example:${foreign.port}/redirect?to=${encodeURIComponent(`${own.url}/stolen`)}`;
  const end = ended(context);
  await page.evaluate(download(`/redirect?to=${encodeURIComponent(there)}`));
  await end;
  expect(stolen(own)).toEqual([]);
});

async function withSignIn(page: Page, own: DevServer, path: string): Promise<void> {
  const location = `${own.url}/page?html=${path}`;
  await page.route('http://login.example/**', (route) => route.fulfill({ status: 302, headers: { location } }));
}

test('proxies a redirect when the test itself responds with it', async ({ newContext, own }) => {
  const page = await (await newContext()).newPage();
  await page.goto(own.url);
  await withSignIn(page, own, 'in');
  await page.evaluate(leave('http://login.example/?back'));
  await expect(page.locator('body')).toHaveText('in');
  await page.goto('http://login.example/again');
  await expect(page.locator('body')).toHaveText('in');
  // Its own server's address, too.
  await page.route('**/moved', (route) => route.fulfill({ status: 307, headers: { location: '/echo' } }));
  expect(await page.evaluate(async () => (await fetch('/moved', { method: 'PUT' })).json())).toMatchObject({
    method: 'PUT',
  });
});

test('does not proxy such a redirect when a foreign page has requested it', async ({ newContext, own, foreign }) => {
  const context = await newContext();
  await (await context.newPage()).goto(own.url);
  const page = await context.newPage();
  await page.goto(pageUrl(foreign, NO_REFERRER));
  await withSignIn(page, own, 'stolen');
  const failed = page.waitForEvent('requestfailed');
  await page.evaluate(leave('http://login.example/'));
  await failed;
  expect(own.requests.filter(({ headers }) => headers['upgrade-insecure-requests'])).toHaveLength(1);
});

test('proxies what an empty frame of its server requests beside a foreign one', async ({
  newContext,
  own,
  foreign,
}) => {
  const { page, frame } = await openApp(await newContext(), own, foreign);
  const script = (path: string) => `(async () => {
    const inner = document.body.appendChild(document.createElement('iframe'));
    const read = inner.contentWindow.fetch('${own.url}${path}', { referrerPolicy: 'no-referrer', mode: 'MODE' });
    return await read.then((answer) => answer.text(), String);
  })()`;
  expect(await page.evaluate(script('/status?code=200').replace('MODE', 'same-origin'))).toBe('status 200');
  expect(await frame.evaluate(script('/stolen').replace('MODE', 'no-cors'))).toContain('Failed to fetch');
  expect(stolen(own)).toEqual([]);
});

/** Requests that a foreign server redirects back to their own address. */
const SENT_BACK: Record<string, string> = {
  'a beacon': `navigator.sendBeacon('PATH', 'x')`,
  'a fetch that outlives its page': `fetch('PATH', { method: 'POST', keepalive: true, mode: 'no-cors' })`,
  'a fetch': `fetch('PATH', { method: 'POST', mode: 'no-cors' })`,
  'an image': `new Image().src = 'PATH'`,
  'a navigation': `setTimeout(() => { location.href = 'PATH' })`,
};

for (const [what, script] of Object.entries(SENT_BACK)) {
  test(`does not proxy ${what} again when a foreign server redirects it back to its address`, async ({
    newContext,
    own,
    denied,
  }) => {
    let back = '';
    const foreign = createServer((_request, response) => {
      response.writeHead(307, { location: back, 'access-control-allow-origin': '*' }).end();
    });
    await once(foreign.listen(0, '127.0.0.1'), 'listening');
    const away = `http://evil.example:${(foreign.address() as AddressInfo).port}/`;
    back = `${own.url}/redirect?status=307&to=${encodeURIComponent(away)}`;
    try {
      const page = await (await newContext()).newPage();
      await page.goto(own.url);
      await page.evaluate(`void (${script.replace('PATH', back)})`);
      await expect.poll(() => denied).toEqual([back]);
      expect(own.requests.filter(({ path }) => path === '/redirect')).toHaveLength(1);
    } finally {
      foreign.closeAllConnections();
      foreign.close();
    }
  });
}

test('reloads a page when a foreign frame in it was refused the same address', async ({ newContext, own, foreign }) => {
  const { page, frame } = await openApp(await newContext(), own, foreign);
  const failed = page.waitForEvent('requestfailed');
  await frame.evaluate(leave(page.url()));
  await failed;
  expect((await page.reload())?.status()).toBe(200);
});

test('does not proxy what a foreign page has posted when the test goes back to it', async ({
  newContext,
  own,
  foreign,
  denied,
}) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(pageUrl(foreign, NO_REFERRER));
  const [popup] = await Promise.all([
    context.waitForEvent('page'),
    page.evaluate(`void (window.popup = open('about:blank', 'popup'))`),
  ]);
  const url = `${own.url}/page?html=here`;
  const post = (input: string) => `{
    const form = document.body.appendChild(document.createElement('form'));
    Object.assign(form, { action: ${JSON.stringify(url)}, method: 'post', target: 'popup' });
    form.append(Object.assign(document.createElement('input'), { name: ${JSON.stringify(input)} }));
    form.submit();
  }`;
  const posted = () => own.requests.filter(({ method }) => method === 'POST').map(({ body }) => String(body));
  await popup.goto(url);
  await page.evaluate(post('stolen'));
  await expect.poll(() => denied).toEqual([url]);
  await expect(popup).toHaveURL('chrome-error://chromewebdata/');
  await page.close();
  // Later, the page itself posts to that address.
  await expect(() => popup.goto(`${own.url}/page?html=other`)).toPass();
  await popup.evaluate(post('mine'));
  await popup.waitForURL(url);
  await expect.poll(posted).toEqual(['mine=']);
  await popup.goBack();
  await expect(popup.locator('body')).toHaveText('other');
  await popup.goBack().catch(() => undefined);
  expect(posted()).toEqual(['mine=']);
});

test('proxies what the test lets continue to its server, for itself and its pages', async ({
  newContext,
  own,
  foreign,
}) => {
  const context = await newContext();
  await context.route('**/api', (route) => route.continue({ url: `${own.url}/status?code=200` }));
  const page = await context.newPage();
  await page.goto(own.url);
  const read = `fetch('http://api.example/api').then((answer) => answer.text(), () => 'refused')`;
  // For the page, its response is cross-origin, readable where the browser allows it.
  await page.goto('http://app.example/api');
  await expect(page.locator('body')).toHaveText('status 200');
  await page.goto(own.url);
  await page.evaluate(`fetch('http://api.example/api', { mode: 'no-cors' }).then(() => 0)`);
  await page.goto(pageUrl(foreign, ''));
  expect(await page.evaluate(read)).toBe('refused');
  expect(own.requests.filter(({ path }) => path === '/status')).toHaveLength(2);
});

test.describe('with a listed host', () => {
  test.use({ listed: 'sign-in.localhost' });

  test('proxies its redirect to the server that the test navigates to, for pages of that server', async ({
    newContext,
    own,
    second,
    foreign,
    denied,
  }) => {
    const context = await newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    const back = `${own.url}/page?html=back`;
    const signIn = `http://sign-in.localhost:${second.port}/redirect?to=${encodeURIComponent(back)}`;
    await page.evaluate(leave(signIn));
    await expect(page.locator('body')).toHaveText('back');
    const read = `fetch(${JSON.stringify(signIn)}, { mode: 'no-cors' }).then(() => 'read', () => 'refused')`;
    expect(await page.evaluate(read)).toBe('read');
    await page.goto(pageUrl(foreign, ''));
    expect(await page.evaluate(read)).toBe('refused');
    expect(denied).toEqual([back]);
  });
});

test('proxies what a frame with a `javascript:` address requests, for pages of its server only', async ({
  newContext,
  own,
  foreign,
}) => {
  const page = await (await newContext()).newPage();
  const framed = (name: string) => `<iframe src="javascript:'<img src=${own.url}/pixel.svg?${name}>'"></iframe>`;
  await page.goto(`${own.url}/page?html=${encodeURIComponent(framed('of-own'))}`);
  await expect.poll(() => own.requests.map(({ query }) => query)).toContain('of-own=');
  await page.goto(pageUrl(foreign, `${framed('of-foreign')}<img src=/pixel.svg>`));
  await page.goto(`${own.url}/page?html=last`);
  expect(own.requests.map(({ query }) => query)).not.toContain('of-foreign=');
});
