import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import type { Page } from '@playwright/test';
import { expect, pageUrl, test } from '../../support/cdp/auto-fixtures.ts';
import { startDevServer } from '../../support/cdp/dev-server.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requiresFound } from '../../support/requires.ts';

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
  test(
    `proxies links, forms, frames and popups of its server: ${policy || 'ordinary'} referrers`,
    slowIf(policy === 'origin'),
    async ({ newContext, own }) => {
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
      const [opened] = await Promise.all([
        context.waitForEvent('page'),
        page.evaluate(`void open('/page?html=opened')`),
      ]);
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
    },
  );
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

/** Ways in which a page reaches a server on another port; each shows that server's `/page?html=there` at its end. */
const TO_ANOTHER_PORT: Record<string, string> = {
  'a link': `document.body.append(Object.assign(document.createElement('a'), { href: 'URL' })); document.links[0].click()`,
  'a form': `document.body.insertAdjacentHTML('beforeend', '<form action="ORIGIN/page"><input name=html value=there></form>'); document.forms[0].submit()`,
  'a script that navigates': `location = 'URL'`,
  'its own redirect': `location = '/redirect?to=' + encodeURIComponent('URL')`,
  'a redirect back to itself': `location = 'ORIGIN/redirect?to=' + encodeURIComponent(origin + '/page?html=there')`,
  'a popup': `open('URL')`,
  'a popup without opener': `open('URL', '', 'noopener')`,
  'a frame': `document.body.append(Object.assign(document.createElement('iframe'), { src: 'URL' }))`,
};

for (const policy of ['', 'no-referrer', 'origin']) {
  test(
    `proxies what its pages open on other ports, and what these request: ${policy || 'ordinary'} referrers`,
    slowIf(policy === 'origin'),
    async ({ newContext, own, second, origins, denied }) => {
      const context = await newContext();
      const start = `${own.url}/page?html=${encodeURIComponent(`<meta name=referrer content=${policy}>`)}`;
      for (const [way, script] of Object.entries(TO_ANOTHER_PORT)) {
        const page = await context.newPage();
        await page.goto(start);
        const source = script
          .replaceAll('URL', `${second.url}/page?html=there`)
          .replaceAll('ORIGIN', second.url)
          .replaceAll('origin +', `'${own.url}' +`);
        await page.evaluate(`void setTimeout(() => { ${source} })`);
        const shows = () =>
          context
            .pages()
            .flatMap((each) => each.frames())
            .find((frame) => frame.url().endsWith('/page?html=there'));
        await expect.poll(shows, way).toBeDefined();
        const there = shows();
        await expect.poll(() => there?.locator('body').innerText(), way).toBe('there');
        // It is trusted like the page that opened it.
        const read = `fetch('${own.url}/cors').then((answer) => answer.text(), String)`;
        expect(await there?.evaluate(read), way).toBe('shared');
        for (const each of context.pages()) await each.close();
      }
      expect(denied).toEqual([]);
      expect(origins).toEqual([own.url, second.url]);
    },
  );
}

test('proxies what scripts of its pages request on other ports', async ({ newContext, own, second }) => {
  const page = await (await newContext()).newPage();
  await page.goto(own.url);
  const sent = `Promise.all([
    fetch('URL/cors').then((answer) => answer.text()),
    fetch('/redirect?to=' + encodeURIComponent('URL/cors')).then((answer) => answer.text()),
    new Promise((resolve) => {
      const read = "fetch('URL/cors').then((answer) => answer.text(), String).then(postMessage)";
      new Worker(window.URL.createObjectURL(new Blob([read]))).onmessage = ({ data }) => resolve(data);
    }),
    new Promise((resolve) => {
      const socket = new WebSocket('URL/own'.replace('http', 'ws'));
      socket.onopen = () => resolve('open');
      socket.onclose = () => resolve('closed');
    }),
  ].map((one) => one.catch(String)))`;
  const url = second.url;
  expect(await page.evaluate(sent.replaceAll('URL/', `${url}/`))).toEqual(['shared', 'shared', 'shared', 'open']);
});

test('proxies what a page sends while it is left or closed', async ({ newContext, own, second, denied }) => {
  const context = await newContext();
  const sends = ['beacon', 'post', 'get', 'image'].flatMap((way) =>
    [own, second].map(({ url }) => {
      const to = `${url}/redirect?way=${way}&status=307&to=${encodeURIComponent(`/cors?${way}`)}`;
      if (way === 'beacon') return `navigator.sendBeacon('${to}', 'x');`;
      if (way === 'image') return `new Image().src = '${to}';`;
      const body = way === 'post' ? `method: 'POST', body: 'x',` : '';
      return `void fetch('${to}', { ${body} keepalive: true, mode: 'no-cors' });`;
    }),
  );
  const leave: Record<string, (page: Page) => Promise<unknown>> = {
    link: async (page) => {
      await page.click('a');
      await page.waitForURL('**/page?html=next');
    },
    goto: (page) => page.goto(`${own.url}/page?html=next`),
    elsewhere: (page) => page.goto('about:blank'),
    reload: (page) => page.reload(),
    close: (page) => page.close(),
    'close, with beforeunload': (page) => page.close({ runBeforeUnload: true }),
  };
  for (const [way, leaving] of Object.entries(leave)) {
    const page = await context.newPage();
    await page.goto(`${own.url}/page?html=${encodeURIComponent('<a href="/page?html=next">next</a>')}`);
    await page.evaluate(`addEventListener('pagehide', () => { ${sends.join('')} })`);
    for (const { requests } of [own, second]) requests.length = 0;
    await leaving(page);
    const arrived = () =>
      [own, second].map(({ requests }) => requests.map(({ path, query }) => path === '/cors' && query.slice(0, -1)));
    const all = ['beacon', 'get', 'image', 'post'];
    await expect.poll(() => arrived().map((each) => each.filter(Boolean).sort()), way).toEqual([all, all]);
    // Each of them once.
    const redirected = [own, second].map(({ requests }) => requests.filter(({ path }) => path === '/redirect'));
    expect(
      redirected.map(({ length }) => length),
      way,
    ).toEqual([all.length, all.length]);
  }
  expect(denied).toEqual([]);
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

test('proxies the names of this machine', async ({ newContext, own, denied, foreign }) => {
  const anywhere = await startDevServer({ host: '::' });
  try {
    const { address } = await lookup(hostname());
    const addresses = Object.values(networkInterfaces()).flat();
    requiresFound(
      'a host name with a local address',
      addresses.some((each) => each?.address === address),
    );
    const page = await (await newContext()).newPage();
    for (const name of ['localhost.', 'app.localhost.', '127.0.0.9', hostname().toLowerCase()]) {
      const url = `http://${name}:${anywhere.port}`;
      expect((await page.goto(`${url}/page?html=here`))?.status(), name).toBe(200);
      await page.goto(`${own.url}/page`);
      const read = `fetch('${url}/cors').then((answer) => answer.text(), String)`;
      expect(await page.evaluate(read), name).toBe('shared');
      await page.goto(pageUrl(foreign, ''));
      expect(await page.evaluate(read), name).toContain('Failed to fetch');
      expect(denied.splice(0)).toEqual([`${url}/cors`]);
    }
  } finally {
    await anywhere.close();
  }
});

test('keeps what each context reaches separate', async ({ newContext, own, foreign, origins }) => {
  const [one, other] = [await newContext(), await newContext()];
  await (await one.newPage()).goto(own.url);
  // A page of that origin, but this context has not visited it: the route responds.
  const page = await other.newPage();
  await page.route('**/*', (route) => route.fulfill({ body: 'mine', contentType: 'text/html' }));
  await page.goto(pageUrl(foreign, ''));
  await page.evaluate(`void setTimeout(() => { location = '${own.url}/page' })`);
  await expect(page.locator('body')).toHaveText('mine');
  await page.unroute('**/*');
  const read = page.evaluate(() => fetch('/cors').then((answer) => answer.text(), String));
  expect(await read).toContain('Failed to fetch');
  expect(origins).toEqual([own.url]);
  expect(own.seen('/cors')).toBeUndefined();
});

test('refuses a server that is not running yet, like a local browser', async ({ newContext, own }) => {
  const page = await (await newContext()).newPage();
  await own.close();
  await expect(page.goto(own.url)).rejects.toThrow('net::ERR_CONNECTION_REFUSED');
});
