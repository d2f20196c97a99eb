import type { Browser, BrowserContext, Frame, Page } from '@playwright/test';
import fc from 'fast-check';
import { expect, pageUrl, test } from '../../support/cdp/auto-fixtures.ts';
import { type DevServer, startDevServer } from '../../support/cdp/dev-server.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as puppeteerTest } from '../../support/cdp/puppeteer.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** Whatever else is under way, each navigation by the test counts as a visit. */

/** What a page of the server does: a fetch, a WebSocket and a worker's fetch. */
const USES_SERVER = `Promise.all([
  fetch('/status?code=200').then((response) => response.text()),
  new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://' + location.host + '/own');
    socket.onmessage = () => { socket.onmessage = ({ data }) => resolve(data); socket.send('echo'); };
    socket.onclose = () => reject(new Error('the WebSocket closed'));
  }),
  new Promise((resolve, reject) => {
    const worker = new Worker('/worker.js');
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = () => reject(new Error('the worker failed'));
    worker.postMessage('/status?code=200');
  }),
])`;
const USED = ['status 200', 'echo', 'status 200'];

/** Tries to reach servers, again and again. */
const attacking = (servers: DevServer[]) => `<script>
  setInterval(() => {
    for (const url of ${JSON.stringify(servers.map(({ url }) => `${url}/stolen`))}) {
      fetch(url, { mode: 'no-cors' }).catch(() => 0);
      new Image().src = url;
      new WebSocket(url.replace('http', 'ws')).onopen = () => fetch(url + '/opened');
    }
  }, 200);
</script>`;

test('proxies the first visits of two pages at once, and their WebSockets', async ({ newContext, own, second }) => {
  const context = await newContext();
  const [one, other] = [await context.newPage(), await context.newPage()];
  await Promise.all([one.goto(`${own.url}/page?html=one`), other.goto(`${second.url}/page?html=other`)]);
  expect(await Promise.all([one.evaluate(USES_SERVER), other.evaluate(USES_SERVER)])).toEqual([USED, USED]);
});

test('proxies a page that is older than the first visit of its context, and its redirects', async ({
  newContext,
  own,
}) => {
  const context = await newContext();
  const [first, older] = [await context.newPage(), await context.newPage()];
  await expect(first.goto(`${own.url}/loop`)).rejects.toThrow('net::ERR_TOO_MANY_REDIRECTS');
  await older.goto(`${own.url}${redirects(12)}`);
  expect(await older.evaluate(USES_SERVER)).toEqual(USED);
});

test('the last one of several navigations of a page wins', async ({ newContext, own, foreign }) => {
  const context = await newContext();
  const [one, other] = [await context.newPage(), await context.newPage()];
  const [local, elsewhere] = [`${own.url}/page?html=local`, pageUrl(foreign, 'elsewhere')];
  // Playwright may say of any of them that another one interrupted it: with a local browser, of the last one in 3 of 60
  // runs.
  await Promise.allSettled([one.goto(local), other.goto(elsewhere), one.goto(elsewhere), other.goto(local)]);
  await expect(one.locator('body')).toHaveText('elsewhere');
  await expect(other.locator('body')).toHaveText('local');
  expect(await other.evaluate(USES_SERVER)).toEqual(USED);
});

puppeteerTest('proxies the first visits of two Puppeteer pages at once', async ({ connectPuppeteer }) => {
  const far = await startFarChromium(['localhost'], []);
  const server = await startDevServer();
  try {
    const browser = await connectPuppeteer(far.cdpUrl, { auto: { onVisit: () => undefined } });
    const context = await browser.createBrowserContext();
    const pages = [await context.newPage(), await context.newPage()];
    await Promise.all(pages.map((page, n) => page.goto(`${server.url}/page?html=${n}`)));
    expect(await Promise.all(pages.map((page) => page.evaluate(USES_SERVER)))).toEqual([USED, USED]);
    await context.close();
  } finally {
    await server.close();
    await far.close();
  }
});

const visit = fc.record({
  at: fc.constantFrom('an open page', 'a new page', 'a new context', 'a frame', 'a popup', 'a hostile page'),
  to: fc.constantFrom('own', 'second'),
  way: fc.constantFrom('directly', 'after redirects', 'while it goes elsewhere'),
});
type Visit = typeof visit extends fc.Arbitrary<infer One> ? One : never;

/** Each takes about two seconds. */
const RUNS = propertyRuns(40, 3);
/** Time limit for everything, in ms, including the search for a shorter failing case. */
const SEARCH_MS = 60_000 + 5_000 * RUNS.numRuns;

test('proxies everything that the test visits at once, and nothing for a hostile page', async ({
  newContext,
  own,
  second,
  foreign,
  denied,
}) => {
  test.setTimeout(2 * SEARCH_MS);
  const browser = (await newContext()).browser() as Browser;
  const hostile = pageUrl(foreign, attacking([own, second]));
  const servers = { own, second };
  const play = async (visits: Visit[]) => {
    for (const { requests, upgrades } of [own, second]) requests.length = upgrades.length = 0;
    const contexts = [await browser.newContext()];
    try {
      const context = contexts[0] as BrowserContext;
      const page = await context.newPage();
      await page.goto(hostile);
      const starts = await Promise.all(visits.map((each) => prepared(context, contexts, each, hostile)));
      await Promise.all(
        visits.map(async ({ to, way }, n) => {
          const place = await (starts[n] as () => Promise<Page | Frame>)();
          if (way === 'while it goes elsewhere')
            void place.goto(pageUrl(foreign, '').replace('/page', '/hang')).catch(() => 0);
          await place.goto(`${servers[to].url}${way === 'after redirects' ? redirects(12) : '/page?html=there'}`);
          expect(await place.evaluate(USES_SERVER), JSON.stringify(visits[n])).toEqual(USED);
        }),
      );
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
    } finally {
      for (const context of contexts) await context.close();
    }
    expect(denied.splice(0)).toEqual(expect.arrayContaining([`${own.url}/stolen`, `${second.url}/stolen`]));
    for (const { requests, upgrades } of [own, second]) {
      expect([...requests, ...upgrades].map(({ path }) => path).filter((path) => path.startsWith('/stolen'))).toEqual(
        [],
      );
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 2, maxLength: 5 }), async (visits) => await play(visits)),
    { ...RUNS, interruptAfterTimeLimit: SEARCH_MS },
  );
});

/** What exists before the visits; the result is called when they begin. */
async function prepared(
  context: BrowserContext,
  contexts: BrowserContext[],
  { at }: Visit,
  hostile: string,
): Promise<() => Promise<Page | Frame>> {
  if (at === 'a new page') return async () => await context.newPage();
  if (at === 'a new context') {
    return async () => {
      const other = (await context.browser()?.newContext()) as BrowserContext;
      contexts.push(other);
      return await other.newPage();
    };
  }
  const page = await context.newPage();
  if (at === 'an open page') return async () => page;
  await page.goto(hostile);
  if (at === 'a hostile page') return async () => page;
  if (at === 'a frame') {
    await page.evaluate(`void document.documentElement.append(document.createElement('iframe'))`);
    return async () => page.frames()[1] as Frame;
  }
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void open('about:blank')`)]);
  return async () => popup;
}

/** An address that redirects that often. */
function redirects(count: number): string {
  return count === 0 ? '/page?html=end' : `/redirect?to=${encodeURIComponent(redirects(count - 1))}`;
}
