import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test as base, expect } from '../../support/cdp/fixtures.ts';

/** Back and forward navigation, in which Playwright alone would time out on a browser that it did not launch. */

const test = base.extend<{ pages: string }>({
  pages: async ({}, use) => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url?.startsWith('/forbids')) response.setHeader('permissions-policy', 'unload=()');
      const frame = request.url?.includes('frame=') ? '<iframe src="/inner"></iframe>' : '';
      response.end(`<!doctype html><link rel=icon href=data:,><title>${request.url}</title>${frame}`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    server.closeAllConnections();
  },
});

test('reloads pages like a locally launched browser', async ({ connectThrough, pages }) => {
  const { browser } = await connectThrough();
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${pages}/a?frame=1`);
  await page.goto(`${pages}/b`);
  const back = await page.goBack({ timeout: 10_000 });
  expect(back?.status()).toBe(200);
  expect(await page.title()).toBe('/a?frame=1');
  expect(page.frames()).toHaveLength(2);
  const forward = await page.goForward({ timeout: 10_000 });
  expect(forward?.status()).toBe(200);
  expect(await page.title()).toBe('/b');
  expect(await page.evaluate(`performance.getEntriesByType('navigation')[0].type`)).toBe('back_forward');
  // Routes see the requests of a page reached by going back.
  await page.route('**/a?*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>routed</title>' }));
  await page.goBack();
  expect(await page.title()).toBe('routed');
});

test('hides the listener from pages', async ({ connectThrough, pages }) => {
  const { browser } = await connectThrough();
  const page = await (await browser.newContext()).newPage();
  await page.addInitScript(`window.added = []; window.addEventListener = (type) => window.added.push(type);`);
  await page.goto(`${pages}/a`);
  expect(await page.evaluate('window.added')).toEqual([]);
  expect(await page.evaluate('window.onunload')).toBe(null);
});

test('prints nothing in the console', async ({ connectThrough, pages }) => {
  const { browser } = await connectThrough();
  const page = await (await browser.newContext()).newPage();
  const said: string[] = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(error.message));
  for (const path of ['/a?frame=1', '/forbids/a', '/b']) await page.goto(pages + path);
  await page.evaluate(`console.log('last')`);
  await expect.poll(() => said).toEqual(['log: last']);
});

// The headless shell has no back/forward cache.
test.describe('on full Chromium', () => {
  test.use({ onFullChromium: true });

  test('reports a page that still comes from the cache as loaded', async ({ connectThrough, pages }) => {
    const { browser } = await connectThrough();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${pages}/forbids/a`);
    await page.evaluate('window.kept = true');
    await page.goto(`${pages}/forbids/b`);
    await page.goBack({ timeout: 10_000 });
    expect(await page.title()).toBe('/forbids/a');
    expect(await page.evaluate('window.kept')).toBe(true);
    await page.goForward({ timeout: 10_000 });
    expect(await page.title()).toBe('/forbids/b');
    await page.goto(`${pages}/c`);
    expect(await page.title()).toBe('/c');
  });
});
