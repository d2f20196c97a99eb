import type { BrowserContext, Frame, Page } from '@playwright/test';
import { expect, pageUrl, test } from '../../support/cdp/auto-fixtures.ts';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { fullLength, slowIf } from '../../support/property-runs.ts';

/**
 * The test has visited its own server (`own`), whose pages reach it and every other server on loopback (`second`).
 * Other pages try to reach both by every means: nothing arrives there, and nothing can be read.
 */

const NO_REFERRER = '<meta name=referrer content=no-referrer>';

/** Attacks that a page makes by itself, and after which it is as before; `OWN` is the origin that it attacks. */
const INSIDE = {
  fetch: `fetch('OWN/stolen')`,
  'fetch, opaque': `fetch('OWN/stolen', { mode: 'no-cors', credentials: 'include' })`,
  'fetch, opaque, without referrer': `fetch('OWN/stolen', { mode: 'no-cors', referrerPolicy: 'no-referrer' })`,
  'fetch, with a preflight': `fetch('OWN/stolen', { method: 'PUT', headers: { 'x-own': '1' } })`,
  'fetch, redirected': `fetch('/redirect?to=' + encodeURIComponent('OWN/stolen'))`,
  'fetch, redirected, opaque': `fetch('/redirect?to=' + encodeURIComponent('OWN/stolen'), { mode: 'no-cors' })`,
  'fetch with a forged referrer': `fetch('OWN/stolen', { mode: 'no-cors', referrer: 'OWN/' })`,
  beacon: `navigator.sendBeacon('OWN/stolen', 'x')`,
  'a synchronous request': `const request = new XMLHttpRequest(); request.open('GET', 'OWN/stolen', false); request.send()`,
  EventSource: `await new Promise((resolve) => { new EventSource('OWN/stolen').onerror = resolve })`,
  WebSocket: `await new Promise((resolve) => { const socket = new WebSocket('WS/stolen'); socket.onopen = () => { loot.push('open'); resolve() }; socket.onclose = resolve })`,
  image: `await new Promise((resolve) => { const image = new Image(); image.onload = image.onerror = resolve; image.src = 'OWN/stolen' })`,
  'image without referrer': `await new Promise((resolve) => { const image = new Image(); image.referrerPolicy = 'no-referrer'; image.onload = image.onerror = resolve; image.src = 'OWN/stolen' })`,
  script: `await new Promise((resolve) => { const script = document.createElement('script'); script.onload = script.onerror = resolve; script.src = 'OWN/stolen'; document.body.append(script) })`,
  'style sheet': `document.head.insertAdjacentHTML('beforeend', '<style>body { background: url(OWN/stolen) }</style><link rel=stylesheet href="OWN/stolen">')`,
  'prefetch, preload, prerender': `document.head.insertAdjacentHTML('beforeend', '<link rel=prefetch href="OWN/stolen"><link rel=preload as=script href="OWN/stolen"><link rel=modulepreload href="OWN/stolen"><link rel=prerender href="OWN/stolen">')`,
  'icon and manifest': `document.head.insertAdjacentHTML('beforeend', '<link rel=icon href="OWN/stolen"><link rel=apple-touch-icon href="OWN/stolen"><link rel=manifest href="OWN/stolen">')`,
  'media and tracks': `document.body.insertAdjacentHTML('beforeend', '<video autoplay src="OWN/stolen" poster="OWN/stolen"></video><audio autoplay src="OWN/stolen"></audio><video autoplay><source src="OWN/stolen"><track default src="OWN/stolen"></video>')`,
  'font and SVG': `document.head.insertAdjacentHTML('beforeend', '<style>@font-face { font-family: f; src: url(OWN/stolen) } body { font-family: f; filter: url(OWN/stolen#f) }</style>'); document.body.insertAdjacentHTML('beforeend', 'text<svg><use href="OWN/stolen#a"></use><image href="OWN/stolen"></image></svg><input type=image src="OWN/stolen">')`,
  'style sheet that imports, without referrer': `document.head.insertAdjacentHTML('beforeend', '<meta name=referrer content=no-referrer><link rel=stylesheet href="data:text/css,@import%20url(OWN/stolen)">')`,
  'module, worklet and import': `await Promise.allSettled([import('OWN/stolen'), CSS.paintWorklet?.addModule('OWN/stolen'), new AudioContext().audioWorklet.addModule('OWN/stolen')])`,
  'fetch that outlives its page': `fetch('OWN/stolen', { mode: 'no-cors', keepalive: true, referrerPolicy: 'no-referrer' })`,
  'fetch that outlives its page, redirected': `fetch('/redirect?to=' + encodeURIComponent('OWN/stolen'), { mode: 'no-cors', keepalive: true, referrerPolicy: 'no-referrer' })`,
  'beacon, redirected': `navigator.sendBeacon('/redirect?status=307&to=' + encodeURIComponent('OWN/stolen'), 'x')`,
  'image with attribution': `await new Promise((resolve) => { const image = new Image(); image.attributionSrc = 'OWN/stolen'; image.onload = image.onerror = resolve; image.src = '/pixel.svg' })`,
  'fetch at its end': `if (self.fetchLater) fetchLater('OWN/stolen', { activateAfter: 0 })`,
  'speculation rules': `const rules = document.createElement('script'); rules.type = 'speculationrules'; rules.text = '{"prefetch":[{"source":"list","urls":["OWN/stolen"]}],"prerender":[{"source":"list","urls":["OWN/stolen"]}]}'; document.head.append(rules)`,
  'worker that imports': `await new Promise((resolve) => { const worker = new Worker(URL.createObjectURL(new Blob(["try { importScripts('OWN/stolen') } catch {} postMessage(0)"]))); worker.onmessage = worker.onerror = resolve })`,
  'worker that fetches': `await new Promise((resolve) => { const worker = new Worker(URL.createObjectURL(new Blob(["fetch('OWN/stolen', { mode: 'no-cors' }).catch(() => 0).then(() => postMessage(0))"]))); worker.onmessage = worker.onerror = resolve })`,
  'worker in a worker': `await new Promise((resolve) => { const worker = new Worker(URL.createObjectURL(new Blob(["try { new Worker('OWN/stolen') } catch {} postMessage(0)"]))); worker.onmessage = worker.onerror = resolve })`,
  'worker in a worker, redirected': `await new Promise((resolve) => { const worker = new Worker(URL.createObjectURL(new Blob(["new Worker(origin + '/redirect?to=' + encodeURIComponent('OWN/stolen')).onerror = () => postMessage(0)"]))); worker.onmessage = worker.onerror = resolve })`,
  // It waits: the worker ends with its last page.
  'shared worker': `await new Promise((resolve) => { const worker = new SharedWorker(URL.createObjectURL(new Blob(["onconnect = ({ ports: [port] }) => fetch('OWN/stolen', { mode: 'no-cors' }).catch(() => 0).then(() => port.postMessage(0))"]))); worker.port.onmessage = worker.onerror = resolve })`,
  frame: `document.body.insertAdjacentHTML('beforeend', '<iframe src="OWN/stolen"></iframe>')`,
  'frame without referrer': `document.body.insertAdjacentHTML('beforeend', '<iframe referrerpolicy=no-referrer src="OWN/stolen"></iframe>')`,
  'frame, sandboxed': `document.body.insertAdjacentHTML('beforeend', '<iframe sandbox=allow-scripts src="OWN/stolen"></iframe>')`,
  'frame that is redirected': `document.body.insertAdjacentHTML('beforeend', '<iframe src="/redirect?to=' + encodeURIComponent('OWN/stolen') + '"></iframe>')`,
  'frame with content': `document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc="<img src=OWN/stolen><script>fetch(&quot;OWN/stolen&quot;, { mode: &quot;no-cors&quot; })</script>"></iframe>')`,
  'empty frame': `const frame = document.body.appendChild(document.createElement('iframe')); frame.contentWindow.fetch('OWN/stolen', { mode: 'no-cors' }).catch(() => 0)`,
  'data: frame': `document.body.insertAdjacentHTML('beforeend', '<iframe src="data:text/html,<img src=OWN/stolen>"></iframe>')`,
  'object and embed': `document.body.insertAdjacentHTML('beforeend', '<object data="OWN/stolen"></object><embed src="OWN/stolen">')`,
  'a frame of another address, led by a script': `const frame = document.body.appendChild(document.createElement('iframe')); frame.src = '/page?html=x'; await new Promise((resolve) => { frame.onload = resolve }); frame.contentWindow.location = 'OWN/stolen'`,
};

/** Attacks by which a page opens another one, or navigates. */
const LEAVING = {
  'what it does when it is left': `for (const event of ['beforeunload', 'visibilitychange', 'pagehide', 'unload']) addEventListener(event, () => {
    for (const referrerPolicy of ['no-referrer', '']) fetch('OWN/stolen', { mode: 'no-cors', referrerPolicy, keepalive: true }).catch(() => 0);
    navigator.sendBeacon('OWN/stolen', 'x');
    const link = document.body.appendChild(Object.assign(document.createElement('a'), { href: 'OWN/stolen', rel: 'noreferrer', target: '_blank' }));
    link.click();
    Object.assign(link, { target: '', download: 'x' }).click();
    location = 'OWN/stolen';
  })`,
  popup: `open('OWN/stolen')`,
  'popup without opener': `open('OWN/stolen', '', 'noopener')`,
  'popup, then led': `const popup = open('about:blank'); popup.location = 'OWN/stolen'`,
  'popup, written': `open('about:blank').document.write('<img src=OWN/stolen>')`,
  link: `const link = document.createElement('a'); link.href = 'OWN/stolen'; document.body.append(link); link.click()`,
  'link without referrer': `const link = document.createElement('a'); link.href = 'OWN/stolen'; link.rel = 'noreferrer'; document.body.append(link); link.click()`,
  'link with ping': `const link = document.createElement('a'); link.href = '#'; link.ping = 'OWN/stolen'; document.body.append(link); link.click()`,
  download: `const link = document.createElement('a'); link.href = 'OWN/stolen'; link.download = 'x'; document.body.append(link); link.click()`,
  location: `location = 'OWN/stolen'`,
  'location, replaced': `location.replace('OWN/stolen')`,
  'own redirect': `location = '/redirect?to=' + encodeURIComponent('OWN/stolen')`,
  refresh: `document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content="0;url=OWN/stolen">')`,
  form: `const form = document.createElement('form'); form.action = 'OWN/stolen'; document.body.append(form); form.submit()`,
  'form, post': `const form = document.createElement('form'); form.action = 'OWN/stolen'; form.method = 'post'; document.body.append(form); form.submit()`,
  'form, post, without referrer': `document.head.insertAdjacentHTML('beforeend', '${NO_REFERRER}'); const form = document.createElement('form'); form.action = 'OWN/stolen'; form.method = 'post'; document.body.append(form); form.submit()`,
};

const ATTACKS = { ...INSIDE, ...LEAVING };

/** Runs an attack in a page; a page that navigates away meanwhile gives no result. */
async function attack(page: Page | Frame, script: string, own: DevServer): Promise<unknown> {
  const source = script.replaceAll('OWN', own.url).replaceAll('WS', own.url.replace('http', 'ws'));
  return await page
    .evaluate(`(async () => {
      const loot = [];
      const read = async (work) => { const answer = await work; if (answer?.text) loot.push(await answer.text()); };
      try { ${source.startsWith('fetch') ? `await read(${source})` : source} } catch {}
      return loot.filter((one) => one !== '');
    })()`)
    .catch(() => []);
}

/** Requests of others to the servers; the last page proves that all earlier requests have arrived. */
async function stolen(context: BrowserContext, own: DevServer, second?: DevServer): Promise<string[]> {
  const page = await context.newPage();
  await page.goto(`${own.url}/page?html=last`);
  await page.evaluate(() => fetch('/echo').then((answer) => answer.text()));
  if (second) await page.evaluate(`fetch('${second.url}/cors').then((answer) => answer.text())`);
  await page.close();
  return [own, second ?? own]
    .flatMap(({ requests, upgrades }) => [
      ...requests.map(({ method, path }) => `${method} ${path}`),
      ...upgrades.map(({ path }) => path),
    ])
    .filter((path) => path.includes('stolen'));
}

/** Attacks that Chromium itself refuses: without HTTPS, an icon to show, or for workers of another origin. */
const REFUSED = [
  ...['icon and manifest', 'image with attribution', 'fetch at its end', 'speculation rules'],
  ...['worker in a worker', 'worker in a worker, redirected'],
];

// Shows that the attacks are some: the product is not part of it.
test(
  'each attack reaches a server that is not protected',
  slowIf(true),
  async ({ newContext, foreign, second: internet }) => {
    test.slow();
    const context = await newContext();
    const unprotected = { ...internet, url: `http://other.example:${internet.port}` };
    const attacked = async (page: Page, name: string, script: string) => {
      await page.goto(pageUrl(foreign, ''));
      await attack(page, marked(script, name), unprotected);
    };
    const arrived = () => [...internet.requests, ...internet.upgrades].map(({ path }) => path).join();
    const missing = () => Object.keys(ATTACKS).filter((name) => !arrived().includes(marked('/stolen', name)));
    const page = await context.newPage();
    for (const [name, script] of Object.entries(INSIDE)) {
      await attacked(page, name, script);
      // Some attacks request nothing yet when the script ends: the page stays until they do.
      if (!REFUSED.includes(name)) await expect.poll(() => missing(), name).not.toContain(name);
    }
    for (const [name, script] of Object.entries(LEAVING)) await attacked(await context.newPage(), name, script);
    // The pages that do something when they are left.
    for (const each of context.pages()) await each.close({ runBeforeUnload: true });
    await expect.poll(() => missing().filter((name) => !REFUSED.includes(name))).toEqual([]);
  },
);

/** The attack with its name in the address that it requests. */
function marked(script: string, name: string): string {
  return script.replaceAll('/stolen', `/stolen/${name.replaceAll(/\W+/g, '-')}.`);
}

const TARGETS: [policy: string, target: 'own' | 'second'][] = [
  ['', 'second'],
  [NO_REFERRER, 'own'],
  ['', 'own'],
  [NO_REFERRER, 'second'],
];
for (const [policy, target] of fullLength(TARGETS, TARGETS.slice(0, 2))) {
  const to = target === 'second' ? ', to another port' : '';
  test(`gives a foreign page no access by itself${policy && ', with no referrer'}${to}`, async ({
    newContext,
    own,
    second,
    foreign,
  }) => {
    test.slow();
    const context = await newContext();
    const went = await context.newPage();
    await went.goto(own.url);
    const attacked = async (page: Page, name: string, script: string) => {
      await page.goto(pageUrl(foreign, policy));
      expect(await attack(page, marked(script, name), target === 'own' ? own : second), name).toEqual([]);
      // When its page has loaded, its attack is over.
      await page.waitForLoadState('load').catch(() => undefined);
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))').catch(() => 0);
    };
    const page = await context.newPage();
    for (const [name, script] of Object.entries(INSIDE)) await attacked(page, name, script);
    for (const [name, script] of Object.entries(LEAVING)) {
      await attacked(await context.newPage(), name, script);
      for (const opened of context.pages()) if (opened !== went) await opened.close();
    }
    expect(await stolen(context, own, second)).toEqual([]);
  });
}

test('gives no access in a page that has visited the server before, nor after it', async ({
  newContext,
  own,
  foreign,
}) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(own.url);
  await page.goto(pageUrl(foreign, ''));
  for (const name of ['fetch', 'fetch, opaque, without referrer', 'image', 'frame', 'WebSocket', 'location'] as const) {
    expect(await attack(page, ATTACKS[name], own), name).toEqual([]);
  }
  expect(await stolen(context, own)).toEqual([]);
});

test('gives no access to a foreign frame or popup of a page that has access, on any port', async ({
  newContext,
  own,
  second,
  foreign,
}) => {
  const context = await newContext();
  const page = await context.newPage();
  const inner = pageUrl(foreign, NO_REFERRER);
  await page.goto(
    `${own.url}/page?html=${encodeURIComponent(`<iframe src="${second.url}/page?html=there"></iframe>`)}`,
  );
  // A page that is trusted because a trusted page frames it frames a foreign one, and opens one.
  await page.frames()[1]?.evaluate(`new Promise((resolve) => {
    open('${inner}');
    document.body.append(Object.assign(document.createElement('iframe'), { src: '${inner}', onload: resolve }));
  })`);
  await expect.poll(() => context.pages().map((each) => each.url())).toContain(inner);
  const foreignFrames = context.pages().flatMap((each) => each.frames().filter((frame) => frame.url() === inner));
  expect(foreignFrames).toHaveLength(2);
  for (const frame of foreignFrames) {
    for (const target of [own, second]) {
      for (const name of [
        'fetch',
        'fetch, opaque, without referrer',
        'frame without referrer',
        'popup',
        'empty frame',
      ] as const) {
        await attack(frame, ATTACKS[name], target);
      }
    }
    await frame.evaluate(
      `void setTimeout(() => { (parent === self ? opener : parent).location = '${second.url}/stolen' })`,
    );
  }
  expect(await stolen(context, own, second)).toEqual([]);
});

test('gives no access to an address that redirects there', async ({ newContext, own, foreign }) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(own.url);
  const redirecting = `http://evil.example:${foreign.port}/redirect?to=${encodeURIComponent(`${own.url}/stolen`)}`;
  await expect(page.goto(redirecting)).rejects.toThrow('net::ERR');
  const posted = page.evaluate(
    (url) => fetch(url, { method: 'POST' }).catch(String),
    redirecting.replace('redirect?', 'redirect?status=307&'),
  );
  await posted.catch(() => undefined);
  // There and back: a redirect by its own server leads through a foreign one.
  const back = `${own.url}/redirect?to=${encodeURIComponent(redirecting)}`;
  await expect(page.goto(back)).rejects.toThrow('net::ERR');
  expect(await stolen(context, own)).toEqual([]);
});

test('gives no access to a page that makes the test reload it, or go back and forward', async ({
  newContext,
  own,
  foreign,
}) => {
  const context = await newContext();
  const page = await context.newPage();
  await (await context.newPage()).goto(own.url);
  await page.goto(pageUrl(foreign, 'hostile'));
  const failed = page.waitForEvent('requestfailed');
  await attack(page, ATTACKS.location, own);
  await failed;
  await expect(page).toHaveURL('chrome-error://chromewebdata/');
  await expect(page.reload()).rejects.toThrow();
  // Chromium rejects it as long as it is about to show its error page.
  await expect(() => page.goBack()).toPass({ timeout: 60_000 });
  await expect(page.locator('body')).toHaveText('hostile');
  const again = page.waitForEvent('requestfailed');
  await page.goForward().catch(() => undefined);
  await again;
  expect(await stolen(context, own)).toEqual([]);
});

for (const policy of ['', NO_REFERRER]) {
  test(`gives no access to a page that has opened or framed a page of the server${policy && ', with no referrer'}`, async ({
    newContext,
    own,
    foreign,
  }) => {
    const context = await newContext();
    const page = await context.newPage();
    await page.goto(pageUrl(foreign, `${policy}<iframe name=inner></iframe>`));
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      page.evaluate(`void (window.popup = open('about:blank', 'named'))`),
    ]);
    await popup.goto(`${own.url}/page?html=popup`);
    await page.frame('inner')?.goto(`${own.url}/page?html=framed`);
    const failed = popup.waitForEvent('requestfailed');
    await attack(page, `popup.location = 'OWN/stolen'`, own);
    await failed;
    await expect(popup).toHaveURL('chrome-error://chromewebdata/');
    await attack(page, `frames.inner.location = 'OWN/stolen'`, own);
    // Chromium's error page would end a navigation that began before it.
    await expect.poll(() => page.frame('inner')?.url()).toBe('chrome-error://chromewebdata/');
    // An empty frame inside the server's page: the hostile page may do anything in it.
    await page.frame('inner')?.goto(`${own.url}/page?html=${encodeURIComponent('<iframe></iframe>')}`);
    await attack(
      page,
      `const inner = frames.inner.frames[0]; inner.location = 'about:blank'; await new Promise((resolve) => setTimeout(resolve, 100)); inner.document.write('<img src=OWN/stolen>'); inner.fetch('OWN/stolen', { mode: 'no-cors' })`,
      own,
    );
    expect(await stolen(context, own)).toEqual([]);
  });
}

test('gives no access to a page that the test leaves for the server', async ({ newContext, own, second, foreign }) => {
  const context = await newContext();
  const page = await context.newPage();
  await (await context.newPage()).goto(own.url);
  await page.goto(pageUrl(foreign, NO_REFERRER));
  await page.mouse.click(5, 5);
  await attack(page, ATTACKS['what it does when it is left'], own);
  await attack(page, ATTACKS['what it does when it is left'], second);
  await page.goto(`${own.url}/page?html=after`);
  expect(await stolen(context, own, second)).toEqual([]);
});

test('gives no access to a page that the test closes, nor to its frames', async ({
  newContext,
  own,
  second,
  foreign,
}) => {
  const context = await newContext();
  await (await context.newPage()).goto(own.url);
  const framed = `<iframe src="${pageUrl(foreign, NO_REFERRER)}"></iframe>`;
  for (const start of [
    pageUrl(foreign, ''),
    pageUrl(foreign, NO_REFERRER),
    `${own.url}/page?html=${encodeURIComponent(framed)}`,
  ]) {
    for (const runBeforeUnload of [false, true]) {
      const page = await context.newPage();
      await page.goto(start);
      await page.mouse.click(5, 5);
      const frame = page.frames().at(-1) ?? page;
      for (const server of [own, second]) {
        await attack(frame, ATTACKS['what it does when it is left'], server);
        const redirecting = `/redirect?status=307&to=${encodeURIComponent(`${server.url}/stolen`)}`;
        await attack(frame, `addEventListener('pagehide', () => { navigator.sendBeacon('${redirecting}', 'x') })`, own);
      }
      await page.close({ runBeforeUnload });
    }
  }
  expect(await stolen(context, own, second)).toEqual([]);
});

test("gives no access to a page that requests the address of the test's next navigation", async ({
  newContext,
  own,
  foreign,
}) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(pageUrl(foreign, ''));
  // Posts to exactly that address, again and again, while the runner navigates there.
  await page.evaluate(
    `void setInterval(() => fetch('${own.url}/page?html=last', { method: 'POST', mode: 'no-cors' }), 1)`,
  );
  await page.goto(`${own.url}/page?html=last`);
  expect(own.requests.map(({ method }) => method)).not.toContain('POST');
});

test('ignores headers of the test about the origin of a request', async ({ newContext, own, foreign }) => {
  const context = await newContext({ extraHTTPHeaders: { referer: `${own.url}/`, origin: own.url } });
  const page = await context.newPage();
  await page.goto(own.url);
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
  for (const name of ['fetch', 'fetch, opaque', 'image', 'frame', 'form', 'location'] as const) {
    const other = await context.newPage();
    await other.goto(pageUrl(foreign, ''));
    expect(await attack(other, ATTACKS[name], own), name).toEqual([]);
  }
  expect(await stolen(context, own)).toEqual([]);
});

test('hides the proxy from pages', async ({ newContext, own, foreign }) => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(own.url);
  await page.goto(pageUrl(foreign, '<iframe></iframe>'));
  const names = `[window, frames[0]].flatMap(Object.getOwnPropertyNames).filter((name) => /^network/.test(name))`;
  expect(await page.evaluate(names)).toEqual([]);
  expect(
    await page.evaluate(`Function.prototype.toString.call(WebSocket) + Function.prototype.toString.call(fetch)`),
  ).toBe('function WebSocket() { [native code] }function fetch() { [native code] }');
});
