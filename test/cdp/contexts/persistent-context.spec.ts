import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, type BrowserType, chromium } from '@playwright/test';
import { openTunnel } from '../../../src/cdp/transport/local-endpoint.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** The browser's default context instead of a new one. */

const oldest: { chromium: BrowserType } = createRequire(
  new URL('../../e2e/playwright-1.48/package.json', import.meta.url),
)('playwright-core');

interface PersistentFixtures {
  /** A page that shows its request's headers; `/set` sets a cookie; `/auth` requires credentials. */
  echo: string;
  /** Connects with a persistent context. */
  connectPersistent: (options?: { clear?: boolean; playwright?: BrowserType; cdpUrl?: string }) => Promise<Browser>;
}

const test = base.extend<PersistentFixtures>({
  echo: async ({}, use) => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url === '/set') response.setHeader('set-cookie', 'kept=yes; Max-Age=3600');
      if (request.url === '/auth' && !request.headers.authorization) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' });
      }
      response.end(`<title>echo</title><pre>${JSON.stringify(request.headers)}</pre>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.closeAllConnections();
    server.close();
  },

  connectPersistent: async ({ cdpUrl: ofTest, open }, use) => {
    const browsers: Browser[] = [];
    await use(async ({ clear = false, playwright = chromium, cdpUrl = ofTest } = {}) => {
      const transport = await open(cdpUrl, { persistent: { clear } });
      const browser =
        playwright === chromium
          ? await chromium.connectOverCDP(transport)
          : await playwright.connectOverCDP(await openTunnel(transport));
      browsers.push(browser);
      return browser;
    });
    for (const browser of browsers) await browser.close();
  },
});

// They change the browser's default context.
test.use({ ownBrowser: true });

/** Pages of the browser, as seen by any client. */
async function pagesOf(cdpUrl: string): Promise<number> {
  const other = await chromium.connectOverCDP(cdpUrl);
  const pages = other.contexts().flatMap((context) => context.pages()).length;
  await other.close();
  return pages;
}

for (const [name, playwright] of Object.entries({ latest: chromium, oldest: oldest.chromium })) {
  test.describe(`Playwright ${name}`, () => {
    // The oldest one sends the same commands: each time, it shows that nothing of the test before is left.
    const once = slowIf(name === 'oldest');

    test('keeps cookies and storage, but not pages, popups and permissions', async ({
      connectPersistent,
      cdpUrl,
      echo,
    }) => {
      const browser = await connectPersistent({ playwright });
      const first = await browser.newContext({ permissions: ['geolocation'], baseURL: echo });
      expect(first.pages()).toEqual([]);
      const page = await first.newPage();
      await page.goto('/set');
      const asked = `navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => state)`;
      expect(await page.evaluate(asked)).toBe('granted');
      await page.evaluate('localStorage.setItem("kept", "too")');
      const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate('void window.open("/popup")')]);
      await popup.waitForLoadState();
      expect(first.pages()).toEqual([page, popup]);
      expect(await pagesOf(cdpUrl)).toBe(3);
      const closed = new Promise((resolve) => popup.once('close', resolve));
      await first.close();
      await closed;
      expect(page.isClosed()).toBe(true);
      expect(await pagesOf(cdpUrl)).toBe(1);

      const second = await browser.newContext({ baseURL: echo });
      const again = await second.newPage();
      await again.goto('/');
      expect(await again.evaluate(asked)).toBe('prompt');
      expect(await again.locator('pre').textContent()).toContain('kept=yes');
      expect(await again.evaluate('localStorage.getItem("kept")')).toBe('too');
      expect((await second.cookies()).map(({ name: cookie }) => cookie)).toEqual(['kept']);
    });

    test(
      'applies the options of `use` for the lifetime of the context only',
      once,
      async ({ connectPersistent, echo }) => {
        const browser = await connectPersistent({ playwright });
        const first = await browser.newContext({
          baseURL: echo,
          extraHTTPHeaders: { 'x-mine': 'yes' },
          geolocation: { latitude: 52, longitude: 13 },
          permissions: ['geolocation'],
          httpCredentials: { username: 'me', password: 'x' },
          locale: 'de-DE',
          timezoneId: 'Asia/Tokyo',
          colorScheme: 'dark',
          viewport: { width: 333, height: 222 },
          storageState: {
            cookies: [
              {
                name: 'state',
                value: '1',
                domain: '127.0.0.1',
                path: '/',
                expires: -1,
                httpOnly: false,
                secure: false,
                sameSite: 'Lax',
              },
            ],
            origins: [{ origin: echo, localStorage: [{ name: 'state', value: '2' }] }],
          },
        });
        await first.addInitScript('window.mine = 7');
        await first.route('**/routed', (route) => route.fulfill({ body: 'mine' }));
        const page = await first.newPage();
        expect((await page.goto('/auth'))?.status()).toBe(200);
        const text = await page.locator('pre').textContent();
        for (const part of ['"x-mine":"yes"', 'state=1', 'Basic ', '"accept-language":"de-DE'])
          expect(text).toContain(part);
        expect(
          await page.evaluate(`[window.mine, navigator.language, innerWidth, innerHeight,
          Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-color-scheme: dark)').matches,
          localStorage.getItem('state')]`),
        ).toEqual([7, 'de-DE', 333, 222, 'Asia/Tokyo', true, '2']);
        const where = `new Promise((resolve) => navigator.geolocation.getCurrentPosition(({ coords }) => resolve(coords.latitude)))`;
        expect(await page.evaluate(where)).toBe(52);
        expect(await (await page.goto('/routed'))?.text()).toBe('mine');
        await first.setOffline(true);
        await expect(page.goto('/')).rejects.toThrow('ERR_INTERNET_DISCONNECTED');
        await first.close();

        const second = await browser.newContext({ baseURL: echo });
        const plain = await second.newPage();
        await plain.goto('/');
        const after = await plain.locator('pre').textContent();
        for (const part of ['x-mine', 'de-DE']) expect(after).not.toContain(part);
        expect(after).toContain('state=1');
        expect(
          await plain.evaluate(`[window.mine, matchMedia('(prefers-color-scheme: dark)').matches,
          Intl.DateTimeFormat().resolvedOptions().timeZone === 'Asia/Tokyo', localStorage.getItem('state')]`),
        ).toEqual([undefined, false, false, '2']);
        expect(await (await plain.goto('/routed'))?.text()).toContain('echo');
      },
    );

    test('opens a new context for a second one at the same time', once, async ({ connectPersistent, echo }) => {
      const browser = await connectPersistent({ playwright });
      const [own, other] = await Promise.all([browser.newContext(), browser.newContext()]);
      const visit = async (context: BrowserContext, path: string) => {
        const page = await context.newPage();
        await page.goto(`${echo}${path}`);
        return await page.locator('pre').textContent();
      };
      await visit(own, '/set');
      expect(await visit(other, '/')).not.toContain('kept=yes');
      expect([own.pages().length, other.pages().length]).toEqual([1, 1]);
      await own.close();
      expect(other.pages().length).toBe(1);
      expect(await visit(other, '/')).not.toContain('kept=yes');
      await other.close();
      expect(await visit(await browser.newContext(), '/')).toContain('kept=yes');
    });

    test('keeps a session with the browser itself across contexts', async ({ connectPersistent }) => {
      const browser = await connectPersistent({ playwright });
      const session = await browser.newBrowserCDPSession();
      for (let times = 0; times < 2; times += 1) {
        const context = await browser.newContext();
        await context.newPage();
        await context.close();
      }
      expect(await session.send('Browser.getVersion')).toMatchObject({ product: expect.stringContaining('Chrome') });
    });

    test('deletes cookies and storage with `clear`, too', async ({ connectPersistent, echo }) => {
      const browser = await connectPersistent({ playwright, clear: true });
      const first = await browser.newContext({ baseURL: echo });
      const page = await first.newPage();
      await page.goto('/set');
      await page.evaluate('localStorage.setItem("kept", "too")');
      await page.evaluate(`new Promise((resolve) => { indexedDB.open('kept').onsuccess = resolve })`);
      await first.close();
      const second = await browser.newContext({ baseURL: echo });
      expect(await second.cookies()).toEqual([]);
      const again = await second.newPage();
      await again.goto('/');
      expect(await again.evaluate('indexedDB.databases().then((all) => [localStorage.length, all.length])')).toEqual([
        0, 0,
      ]);
    });

    test.describe('full Chromium, required for extensions', () => {
      test.use({ onFullChromium: true });

      test(
        'provides extensions, their workers and their effect on pages, also the next time',
        once,
        async ({ connectPersistent, start, echo }, testInfo) => {
          const directory = testInfo.outputPath('extension');
          await mkdir(directory, { recursive: true });
          await writeFile(
            `${directory}/manifest.json`,
            JSON.stringify({
              manifest_version: 3,
              name: 'Marker',
              version: '1.0',
              background: { service_worker: 'worker.js' },
              content_scripts: [{ matches: ['<all_urls>'], js: ['mark.js'] }],
            }),
          );
          await writeFile(
            `${directory}/worker.js`,
            'self.answer = 42; setInterval(() => chrome.runtime.getPlatformInfo(), 1000);',
          );
          await writeFile(`${directory}/mark.js`, 'document.documentElement.dataset.marked = "yes";');
          const { api } = await start({
            allowLoopback: true,
            chromiumArgs: [`--load-extension=${directory}`, '--disable-features=DisableLoadExtensionCommandLineSwitch'],
          });
          const browser = await connectPersistent({ playwright, cdpUrl: (await api.create()).body.cdpUrl });
          for (const round of [1, 2]) {
            const context = await browser.newContext();
            const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
            expect(worker.url(), `round ${round}`).toMatch(/^chrome-extension:.*worker\.js$/);
            // It may still be starting.
            await expect.poll(() => worker.evaluate('self.answer')).toBe(42);
            const page = await context.newPage();
            await page.goto(echo);
            expect(await page.locator('html').getAttribute('data-marked')).toBe('yes');
            await context.close();
          }
        },
      );
    });

    test('shows all pages as visible, regardless of their order', once, async ({ connectPersistent, echo }) => {
      const browser = await connectPersistent({ playwright });
      const context = await browser.newContext();
      const pages = [await context.newPage(), await context.newPage()];
      for (const page of pages) await page.goto(echo);
      for (const page of pages) {
        expect(await page.evaluate('document.visibilityState')).toBe('visible');
        expect(await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(1)))')).toBe(1);
        expect((await page.screenshot()).length).toBeGreaterThan(1000);
      }
    });
  });
}
