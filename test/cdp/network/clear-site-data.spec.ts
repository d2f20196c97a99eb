import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from '@playwright/test';
import { openTransport } from '../../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** `Clear-Site-Data` of proxied responses, as in a local browser. */

const FILL = `(async () => {
  localStorage.setItem('a', '1');
  sessionStorage.setItem('a', '1');
  await (await caches.open('a')).add('/page');
  await new Promise((resolve, reject) => Object.assign(indexedDB.open('a'), { onsuccess: resolve, onerror: reject }));
  await navigator.serviceWorker.register('/sw.js');
  await navigator.serviceWorker.ready;
})()`;
const LOOK = `(async () => ({
  cookies: document.cookie.split('; ').sort().join(' '),
  local: localStorage.length,
  session: sessionStorage.length,
  caches: (await caches.keys()).length,
  databases: (await indexedDB.databases()).length,
  workers: (await navigator.serviceWorker.getRegistrations()).length,
}))()`;

const test = base.extend<object, { sites: { port: number; browsers: Record<'local' | 'proxied', Browser> } }>({
  sites: [
    async ({}, use) => {
      const server = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '/', 'http://any');
        for (const value of searchParams.getAll('clear')) response.appendHeader('clear-site-data', value);
        if (pathname === '/set') {
          response.appendHeader('set-cookie', [
            'host=1',
            'domain=1; Domain=one.localhost',
            'only=1; HttpOnly',
            'path=1; Path=/page',
          ]);
        }
        response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
        response.setHeader('access-control-allow-credentials', 'true');
        if (searchParams.has('to')) return void response.writeHead(302, { location: '/page' }).end();
        response.setHeader('content-type', pathname === '/sw.js' ? 'text/javascript' : 'text/html').end('');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const [near, far] = await Promise.all([startFarChromium([]), startFarChromium(['*.localhost'])]);
      const rules = { proxiedHosts: parseNetworkRules('*.localhost') };
      const local = await chromium.connectOverCDP(await openTransport(near.cdpUrl));
      const proxied = await chromium.connectOverCDP(await openTransport(far.cdpUrl, rules));
      await use({ port: (server.address() as AddressInfo).port, browsers: { local, proxied } });
      await Promise.all([local.close(), proxied.close()]);
      await Promise.all([near.close(), far.close()]);
      server.closeAllConnections();
      server.close();
    },
    { scope: 'worker' },
  ],
});

const clearing = (...values: string[]) => values.map((value) => `clear=${encodeURIComponent(value)}`).join('&');
const fetching =
  (query: string, init = '{}') =>
  async (page: Page) =>
    await page.evaluate(`fetch('/page?${query}', ${init}).then(() => 1)`);
const at = (page: Page, host: string) =>
  page
    .url()
    .replace(/^http:\/\/[\w.]+/, `http://${host}`)
    .replace(/\/\w*$/, '');

const RESPONSES: Record<string, (page: Page) => Promise<unknown>> = {
  '"cookies"': fetching(clearing('"cookies"')),
  '"storage"': fetching(clearing('"storage"')),
  '"cache"': fetching(clearing('"cache"')),
  '"*"': fetching(clearing('"*"')),
  'two directives': fetching(clearing('"storage", "cookies"')),
  'two headers': fetching(clearing('"storage"', '"cookies"')),
  'no quotes': fetching(clearing('storage')),
  'an unknown directive': fetching(clearing('"other"')),
  'without credentials': fetching(clearing('"*"'), `{ credentials: 'omit' }`),
  'a redirect': fetching(`${clearing('"storage"')}&to`),
  'a document': async (page) => await page.goto(`${page.url()}?${clearing('"cookies", "storage"')}`),
  'an image': async (page) =>
    await page.evaluate(
      `new Promise((resolve) => { Object.assign(new Image(), { onerror: resolve, src: '/page?${clearing('"storage"')}' }) })`,
    ),
  "a sibling's": async (page) =>
    await page.evaluate(
      `fetch('${at(page, 'b.one.localhost')}/page?${clearing('"*"')}', { credentials: 'include' }).then(() => 1)`,
    ),
  "the first site's in a page of another": async (page) => {
    const own = page.url();
    await page.goto(`${at(page, 'two.localhost')}/page`);
    await page.evaluate(`fetch('${own}?${clearing('"*"')}', { credentials: 'include' }).then(() => 1)`);
    await page.goto(own);
  },
  "another site's": async (page) =>
    await page.evaluate(
      `fetch('${at(page, 'two.localhost')}/page?${clearing('"*"')}', { credentials: 'include' }).then(() => 1)`,
    ),
};

/** One value is read as another is, and an image is proxied as a fetch is. */
const LIKE_OTHERS =
  /^("(cookies|storage|cache)"|two (directives|headers)|an unknown directive|an image|the first site's.*)$/;

for (const [name, respond] of Object.entries(RESPONSES)) {
  test(
    `clears the data that a local browser clears: ${name}`,
    slowIf(LIKE_OTHERS.test(name)),
    async ({ sites: { port, browsers } }) => {
      const [local, proxied] = await Promise.all(
        [browsers.local, browsers.proxied].map(async (browser) => {
          const context = await browser.newContext();
          const page = await context.newPage();
          const origin = `http://a.one.localhost:${port}`;
          await page.goto(`${origin}/set`);
          await page.goto(`${origin}/page`);
          await page.evaluate(FILL);
          await respond(page);
          if (page.url().includes('?')) await page.goto(`${origin}/page`);
          const seen = [await page.evaluate(LOOK), (await context.cookies()).map(({ name: each }) => each).sort()];
          await context.close();
          return seen;
        }),
      );
      expect(proxied).toEqual(local);
    },
  );
}
