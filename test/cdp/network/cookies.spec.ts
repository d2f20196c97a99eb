import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import { openTransport } from '../../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** Which cookies a proxied request has, compared with a local browser's. */

const COOKIES: readonly string[] = [
  'plain=1',
  'none=1; SameSite=None; Secure',
  'lax=1; SameSite=Lax',
  'strict=1; SameSite=Strict; HttpOnly',
  'apart=1; SameSite=None; Secure; Partitioned; Path=/',
  'both=1; SameSite=None; Secure; Partitioned; Path=/',
];

/** Servers of two sites. The first has cookies, some of them for its frames in pages of the second only. */
class Sites {
  readonly #server: Server;
  /** The cookies of the last request for a path. */
  readonly seen = new Map<string, string>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Sites> {
    const server = createServer();
    const sites = new Sites(server);
    server.on('request', (request, response) => sites.#respond(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return sites;
  }

  origin(site: string): string {
    return `http://${site}.localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #respond({ url = '/', headers, method }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'http://any');
    const names = (headers.cookie ?? '').split('; ').sort().join(' ');
    this.seen.set(pathname, `${method} ${names}`);
    response.setHeader('access-control-allow-origin', headers.origin ?? '*');
    response.setHeader('access-control-allow-credentials', 'true');
    const set = searchParams.getAll('set');
    if (set.length > 0) response.setHeader('set-cookie', set);
    const to = searchParams.get('to');
    if (to !== null) return void response.writeHead(302, { location: to }).end();
    response
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><link rel="icon" href="data:,">${searchParams.get('html') ?? ''}`);
  }
}

const setting = (cookies: readonly string[]) => cookies.map((cookie) => `set=${encodeURIComponent(cookie)}`).join('&');

interface Acting {
  page: Page;
  /** The frame of the first site in a page of the second. */
  one: string;
  two: string;
}

/** Loads it as an image; ends when it is loaded or has failed. */
const imageOf = (url: string, attributes = '') => `new Promise((resolve) => {
  const image = Object.assign(new Image(), { onload: resolve, onerror: resolve, ${attributes} });
  image.src = ${JSON.stringify(url)};
})`;
const fetching =
  (credentials: string) =>
  async ({ page, one }: Acting) =>
    await page.evaluate(`fetch('${one}/it', { credentials: '${credentials}' }).then(() => 1)`);

/** Requests of pages of the second site, for the first, unless they say otherwise. */
const REQUESTS: Record<string, (acting: Acting) => Promise<unknown>> = {
  'fetch with credentials': fetching('include'),
  'fetch with same-origin credentials': fetching('same-origin'),
  'fetch without credentials': fetching('omit'),
  image: async ({ page, one }) => await page.evaluate(imageOf(`${one}/it`)),
  'image with anonymous CORS': async ({ page, one }) =>
    await page.evaluate(imageOf(`${one}/it`, "crossOrigin: 'anonymous'")),
  link: async ({ page, one }) => {
    await page.evaluate(`location.href = '${one}/it'`);
    await page.waitForURL('**/it');
  },
  goto: async ({ page, one }) => await page.goto(`${one}/it`),
  'form that posts': async ({ page, one }) => {
    await page.setContent(`<form method="post" action="${one}/it"><button>go</button></form>`);
    await page.click('button');
    await page.waitForURL('**/it');
  },
  frame: async ({ page, one }) => {
    await page.setContent(`<iframe src="${one}/it"></iframe>`);
  },
  'fetch of its frame': async ({ page, one }) => {
    const frame = await framed(page, one);
    await frame.evaluate((url) => fetch(url), `${one}/it`);
  },
  'navigation of its frame': async ({ page, one }) => {
    const frame = await framed(page, one);
    await frame.evaluate(`location.href = '${one}/it'`);
    await frame.waitForURL('**/it');
  },
  "fetch of the first site's page": async ({ page, one }) => {
    await page.goto(`${one}/page`);
    await page.evaluate((url) => fetch(url), `${one}/it`);
  },
  "fetch of the first site's frame in its own page": async ({ page, one }) => {
    await page.goto(`${one}/page`);
    const frame = await framed(page, one);
    await frame.evaluate((url) => fetch(url), `${one}/it`);
  },
  "fetch of the first site's frame in a frame of the second in its own page": async ({ page, one, two }) => {
    await page.goto(`${one}/page`);
    await page.setContent(
      `<iframe src="${two}/page?html=${encodeURIComponent(`<iframe src="${one}/inner">`)}"></iframe>`,
    );
    await expect.poll(() => page.frames().filter((frame) => frame.url().includes('/inner')).length).toBe(1);
    const frame = page.frames().find((each) => each.url().includes('/inner'));
    await frame?.waitForLoadState();
    await frame?.evaluate((url) => fetch(url), `${one}/it`);
  },
  'redirect from the second site': async ({ page, one, two }) => {
    await page.evaluate((url) => fetch(url, { credentials: 'include' }), `${two}/hop?to=${one}/it`);
  },
  'fetch of a worker': async ({ page, one }) => {
    await page.goto(`${one}/page`);
    const source = `fetch('${one}/it').then(() => postMessage(1))`;
    await page.evaluate(`new Promise((resolve) => {
      new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}]))).onmessage = () => resolve(1);
    })`);
  },
};

async function framed(page: Page, one: string) {
  await page.setContent(`<iframe src="${one}/inner"></iframe>`);
  await expect.poll(() => page.frames()[1]?.url()).toContain('/inner');
  const frame = page.frames()[1];
  if (!frame) throw new Error('no frame');
  await frame.waitForLoadState();
  return frame;
}

interface Ways {
  bothWays: <T>(look: (context: BrowserContext, sites: Sites) => Promise<T>) => Promise<{ local: T; proxied: T }>;
}

const test = base.extend<Ways, { browsers: Record<'local' | 'proxied', Browser> }>({
  browsers: [
    async ({}, use) => {
      const [near, far] = await Promise.all([startFarChromium([]), startFarChromium(['*.localhost'])]);
      const rules = { proxiedHosts: parseNetworkRules('*.localhost') };
      const local = await chromium.connectOverCDP(await openTransport(near.cdpUrl));
      const proxied = await chromium.connectOverCDP(await openTransport(far.cdpUrl, rules));
      await use({ local, proxied });
      await Promise.all([local.close(), proxied.close()]);
      await Promise.all([near.close(), far.close()]);
    },
    { scope: 'worker' },
  ],
  bothWays: async ({ browsers }, use) => {
    const sites = await Sites.start();
    await use(async (look) => {
      const go = async (browser: Browser) => {
        const context = await browser.newContext();
        try {
          return await look(context, sites);
        } finally {
          await context.close();
        }
      };
      return { local: await go(browsers.local), proxied: await go(browsers.proxied) };
    });
    await sites.stop();
  },
});

/** Those for which a row beside them has the same site, credentials and destination. */
const LIKE_OTHERS =
  /^(link|frame|image|fetch with same-origin credentials|is (deleted|changed by a script)|is added by a script)$/;

for (const [name, act] of Object.entries(REQUESTS)) {
  test(
    `sends the cookies that a local browser sends: ${name}`,
    slowIf(LIKE_OTHERS.test(name)),
    async ({ bothWays }) => {
      const { local, proxied } = await bothWays(async (context, sites) => {
        const [one, two] = [sites.origin('one'), sites.origin('two')];
        const page = await context.newPage();
        await page.goto(`${one}/set?${setting(COOKIES)}`);
        const inside = setting([
          'inside=1; SameSite=None; Secure; Partitioned; Path=/',
          'both=2; SameSite=None; Secure; Partitioned; Path=/',
        ]);
        const inner = page.waitForResponse('**/set-inside?*');
        await page.goto(
          `${two}/page?html=${encodeURIComponent(`<iframe src="${one}/set-inside?${inside}"></iframe>`)}`,
        );
        await (await inner).finished();
        sites.seen.delete('/it');
        await act({ page, one, two });
        await expect.poll(() => sites.seen.get('/it')).toBeTruthy();
        return sites.seen.get('/it');
      });
      expect(proxied).toEqual(local);
    },
  );
}

const CHANGES: Record<string, (page: Page, origin: string) => Promise<unknown>> = {
  'is changed by a script': async (page) => await page.evaluate(`document.cookie = 'plain=2'`),
  'is added by a script': async (page) => await page.evaluate(`document.cookie = 'new=1; path=/it'`),
  'is added by the test': async (page, url) => await page.context().addCookies([{ name: 'new', value: '1', url }]),
  'is set by a response': async (page) => await page.evaluate(`fetch('/set?set=lax=2').then(() => 1)`),
  'is deleted': async (page) => await page.context().clearCookies({ name: 'strict' }),
  'is not changed': async () => undefined,
};

for (const [name, change] of Object.entries(CHANGES)) {
  test(
    `sends the cookies of the moment when a route lets a request go: one ${name}`,
    slowIf(LIKE_OTHERS.test(name)),
    async ({ bothWays }) => {
      const { local, proxied } = await bothWays(async (context, sites) => {
        const origin = sites.origin('one');
        const page = await context.newPage();
        await page.goto(`${origin}/set?${setting(COOKIES)}`);
        const other = await context.newPage();
        await other.goto(`${origin}/page`);
        await page.route('**/it*', async (route) => {
          await change(other, origin);
          await route.continue();
        });
        const seen: unknown[] = [];
        for (const script of [
          `fetch('/it').then(() => 1)`,
          `fetch('/it', { method: 'POST', body: 'x', credentials: 'include' }).then(() => 1)`,
        ]) {
          await page.evaluate(script);
          seen.push(sites.seen.get('/it'));
        }
        await page.goto(`${origin}/it`);
        return [...seen, sites.seen.get('/it')];
      });
      expect(proxied).toEqual(local);
    },
  );
}

test('keeps partitioned cookies apart in storageState', async ({ bothWays }) => {
  const { local, proxied } = await bothWays(async (context, sites) => {
    const [one, two] = [sites.origin('one'), sites.origin('two')];
    const page = await context.newPage();
    const lines = [
      'a=1; Secure; SameSite=None; Partitioned',
      'b=2; Secure; HttpOnly; SameSite=None; Partitioned; Path=/; Max-Age=3600',
      'c=3; Secure; SameSite=None; Partitioned; Domain=one.localhost',
      'd=4; Secure; SameSite=None; Partitioned; Domain=two.localhost',
      'e=5; Secure; Partitioned; SameSite=Lax',
      'f=6; Partitioned; SameSite=None',
      '__Host-g=7; Secure; Partitioned; Path=/; SameSite=None',
      '__Host-h=8; Secure; Partitioned; Path=/x; SameSite=None',
      'i=9; Secure; Partitioned; SameSite=None; Max-Age=0',
      'apart; Secure; Partitioned; SameSite=None',
    ];
    await page.goto(`${one}/set?${setting(lines)}`);
    const inner = page.waitForResponse('**/inner?*');
    await page.goto(`${two}/page?html=${encodeURIComponent(`<iframe src="${one}/inner?${setting(lines)}"></iframe>`)}`);
    await (await inner).finished();
    const { cookies } = await context.storageState();
    return cookies.map(({ expires, ...cookie }) => JSON.stringify({ ...cookie, lasts: expires > 0 })).sort();
  });
  expect(proxied).toEqual(local);
});
