import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from '@playwright/test';
import { Savings } from '../../../src/cdp/figures.ts';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { Album, coloured, decoded, MOVING } from '../../support/cdp/pictures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** Pictures of Playwright's pages. */

const GIVES = 'gives pictures of open pages, new pages and popups, until they close or the receiver stops';

for (const onFullChromium of [false, true]) {
  test.describe(onFullChromium ? 'full Chromium' : 'headless shell', () => {
    test.use({ onFullChromium });
    const brief = slowIf(onFullChromium);

    test(GIVES, { tag: onFullChromium ? [] : ['@loads:filmed-pages'] }, async ({ connectThrough, site }) => {
      const screencast = new Screencast();
      const { browser } = await connectThrough({ screencast });
      const viewer = await browser.newPage();
      const context = await browser.newContext({ viewport: { width: 800, height: 400 } });
      const page = await context.newPage();
      await page.goto(coloured('red'));
      const album = new Album();
      const stop = screencast.start(album);
      await album.shows(viewer, page.url(), 'red');
      const picture = album.last(page.url());
      expect(picture).toMatchObject({ width: 800, height: 400 });
      if (picture) expect(await decoded(viewer, picture)).toMatchObject({ width: 320, height: 160 });
      expect(Math.abs(Date.now() - (picture?.at ?? 0))).toBeLessThan(60_000);

      const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void open('about:blank')`)]);
      await popup.goto(coloured('blue'));
      await album.shows(viewer, popup.url(), 'blue');
      const shown = album.last(popup.url())?.target;
      await popup.close();
      await expect.poll(() => album.ended).toEqual([shown]);

      // Its address after a script has changed it.
      await page.goto(site.url);
      await page.evaluate(`history.pushState(null, '', '/part#x'); document.body.style.background = 'lime'`);
      await album.shows(viewer, new URL('/part#x', site.url).href, 'lime');

      stop();
      const { length } = album.pictures;
      const bytes = screencast.bytes();
      expect(bytes).toBeGreaterThan(album.pictures.reduce((sum, { data }) => sum + data.length, 0) - 1);
      await page.goto(MOVING);
      await page.screenshot();
      expect(album.pictures).toHaveLength(length);
      // A picture may have been on its way.
      expect(screencast.bytes() - bytes).toBeLessThan(20_000);
      await browser.close();
    });

    test('takes a new page only when it has loaded', brief, async ({ connectThrough }) => {
      const screencast = new Screencast(60_000);
      const { browser } = await connectThrough({ screencast });
      const viewer = await browser.newPage();
      await viewer.goto(coloured('blue'));
      const album = new Album();
      screencast.start(album);
      // What takes pictures is loaded by now. Pages that open before are not new to it.
      await album.shows(viewer, viewer.url(), 'blue');
      const page = await browser.newPage();
      await page.goto(coloured('red'));
      await album.shows(viewer, page.url(), 'red');
      expect(new Set(album.pictures.map(({ url }) => url))).toEqual(new Set([viewer.url(), page.url()]));
      await browser.close();
    });

    test('takes an empty new page a little later', brief, async ({ connectThrough }) => {
      const screencast = new Screencast();
      const { browser } = await connectThrough({ screencast });
      const viewer = await browser.newPage();
      await viewer.goto(coloured('blue'));
      const album = new Album();
      screencast.start(album);
      const page = await browser.newPage();
      await page.setContent('<body style="background: lime">');
      await album.shows(viewer, 'about:blank', 'lime');
      await browser.close();
    });

    test('shows the last of many quick changes, however slow the pace is', brief, async ({ connectThrough }) => {
      const screencast = new Screencast();
      const { browser } = await connectThrough({ screencast });
      const viewer = await browser.newPage();
      const page = await browser.newPage();
      const album = new Album({ perSecond: 2 });
      screencast.start(album);
      await page.goto(coloured('red'));
      await page.evaluate(`new Promise((done) => {
        let count = 0;
        (function draw() {
          document.body.style.background = count++ % 2 > 0 ? 'lime' : 'red';
          if (count < 30) requestAnimationFrame(draw);
          else done(document.body.style.background = 'blue');
        })();
      })`);
      await album.shows(viewer, page.url(), 'blue');
      const { length } = album.pictures;
      // A page that does not change has no more pictures.
      const bytes = screencast.bytes();
      await delay(1_500);
      expect(album.pictures).toHaveLength(length);
      expect(screencast.bytes() - bytes).toBeLessThan(20_000);
      await browser.close();
    });

    test('keeps to the pace, and waits for a slow receiver without a queue', brief, async ({ connectThrough }) => {
      const screencast = new Screencast();
      const { browser } = await connectThrough({ screencast });
      const page = await browser.newPage();
      await page.goto(MOVING);
      const album = new Album({ perSecond: 4 });
      const stop = screencast.start(album);
      await expect.poll(() => album.pictures.length).toBeGreaterThan(8);
      stop();
      const times = album.pictures.map(({ at }) => at);
      const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
      expect(times.length - 1).toBeLessThanOrEqual(seconds * 4 + 1);

      const slow = new Album();
      let release = () => {};
      slow.busy = new Promise((resolve) => {
        release = resolve;
      });
      screencast.start(slow);
      await expect.poll(() => slow.pictures.length).toBe(1);
      await delay(300);
      const bytes = screencast.bytes();
      await delay(1_000);
      // The browser waits, too.
      expect(screencast.bytes()).toBe(bytes);
      expect(slow.pictures).toHaveLength(1);
      release();
      await expect.poll(() => slow.pictures.length).toBeGreaterThan(4);
      await browser.close();
    });

    test(
      'goes on after a navigation to another process, and after a crash',
      brief,
      async ({ connectThrough, site }) => {
        const screencast = new Screencast();
        const { browser } = await connectThrough({ screencast });
        const album = new Album();
        screencast.start(album);
        const viewer = await browser.newPage();
        const page = await browser.newPage();
        await page.goto(site.url);
        await page.goto(coloured('red'));
        await album.shows(viewer, coloured('red'), 'red');
        const target = album.last(coloured('red'))?.target;
        // Playwright itself does not use a crashed page again.
        const session = await page.context().newCDPSession(page);
        const crashed = page.waitForEvent('crash');
        await page.goto('chrome://crash').catch(() => undefined);
        await crashed;
        await session.send('Page.navigate', { url: coloured('blue') });
        await album.shows(viewer, coloured('blue'), 'blue');
        expect(album.last(coloured('blue'))?.target).toBe(target);
        await session.send('Runtime.evaluate', { expression: `document.body.style.background = 'lime'` });
        await album.shows(viewer, coloured('blue'), 'lime');
        await browser.close();
      },
    );

    test("gives each receiver its size and pace; leaves a test's sessions alone", brief, async ({ connectThrough }) => {
      const screencast = new Screencast();
      const { browser } = await connectThrough({ screencast });
      const page = await browser.newPage();
      const [small, large] = [new Album({ maxWidth: 100 }), new Album({ maxWidth: 640, maxHeight: 640 })];
      const stop = screencast.start(small);
      screencast.start(large);
      // At the same moment as ours.
      const [inBrowser, inPage] = await Promise.all([
        browser.newBrowserCDPSession(),
        page.context().newCDPSession(page),
      ]);
      const frames: number[] = [];
      inPage.on('Page.screencastFrame', ({ sessionId }) => frames.push(sessionId));
      await inPage.send('Page.startScreencast', { format: 'jpeg' });
      expect(await inBrowser.send('Browser.getVersion')).toHaveProperty('product');
      await page.goto(coloured('red'));
      await small.shows(page, page.url(), 'red');
      await large.shows(page, page.url(), 'red');
      await expect.poll(() => frames.length).toBeGreaterThan(0);
      for (const [album, width] of [
        [small, 100],
        [large, 640],
      ] as const) {
        const picture = album.last(page.url());
        expect(picture && (await decoded(page, picture)).width).toBe(width);
      }
      stop();
      await page.evaluate(`document.body.style.background = 'blue'`);
      await large.shows(page, page.url(), 'blue');
      await inPage.detach();
      await inBrowser.detach();
      await page.evaluate(`document.body.style.background = 'lime'`);
      await large.shows(page, page.url(), 'lime');
      await browser.close();
    });

    test('takes no pictures of pages that the client does not know', brief, async ({ open, start }) => {
      const { api } = await start({ rtt: 10 });
      const { cdpUrl } = (await api.create()).body;
      const other = await chromium.connectOverCDP(cdpUrl);
      await other.contexts()[0]?.pages()[0]?.goto(MOVING);
      const screencast = new Screencast();
      const album = new Album();
      screencast.start(album);
      const ahead = { ahead: true, sharesBrowser: true, savings: new Savings(1) };
      const browser = await chromium.connectOverCDP(await open(cdpUrl, { screencast, ...ahead }));
      for (const colour of ['red', 'lime', 'blue'] as const) {
        const context = await browser.newContext();
        const page = await context.newPage();
        await page.goto(coloured(colour));
        // A download uses a helper page.
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.evaluate(
            `{ const a = document.createElement('a'); a.href = 'data:text/plain,x'; a.download = 'x'; a.click(); }`,
          ),
        ]);
        await download.path();
        await album.shows(page, coloured(colour), colour);
        await context.close();
      }
      await expect.poll(() => album.ended.length).toBe(3);
      expect(new Set(album.pictures.map(({ target }) => target)).size).toBe(3);
      await browser.close();
      await other.close();
    });
  });
}
