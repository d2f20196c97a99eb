import type { Browser } from 'puppeteer-core';
import { Savings } from '../../../src/cdp/figures.ts';
import { HOSTILE_PAGE } from '../../support/cdp/hostile-page.ts';
import { expect, test } from '../../support/cdp/puppeteer.ts';
import { slowIf } from '../../support/property-runs.ts';

/** A page that observes itself does not notice commands that are sent early: it sees the same in both modes. */

const ROUND_TRIP_MS = 10;
/** The first ones teach. */
const TESTS = 3;

/** What the page has seen in each test. */
async function reportsOf(browser: Browser, url: string): Promise<unknown[]> {
  const reports: unknown[] = [];
  for (let number = 0; number < TESTS; number += 1) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.setContent(HOSTILE_PAGE);
    await page.waitForSelector('#name');
    await page.type('#name', 'text');
    await page.click('[type=checkbox]');
    await page.select('select', 'large');
    await page.hover('button');
    await page.click('button');
    expect(await page.$eval('button', (button) => button.isConnected)).toBe(true);
    reports.push(JSON.parse(String(await page.evaluate('report()'))));
    await context.close();
  }
  await browser.disconnect();
  return reports;
}

for (const onFullChromium of [false, true]) {
  test.describe(onFullChromium ? 'full Chromium' : 'headless shell', () => {
    test.use({ onFullChromium });
    test.setTimeout(180_000);

    // On full Chromium: latency/hostile-page.spec.ts and same-exchange.spec.ts.
    test(
      'shows a page the same as without `ahead`',
      slowIf(onFullChromium),
      async ({ start, connectPuppeteer, site }) => {
        const { api } = await start({ allowLoopback: true, rtt: ROUND_TRIP_MS });
        const go = async (ahead: boolean) => {
          const savings = new Savings(1);
          const options = { ahead, sharesBrowser: true, savings };
          const reports = await reportsOf(await connectPuppeteer((await api.create()).body.cdpUrl, options), site.url);
          return { reports, savedMs: savings.savedMs };
        };
        const plain = await go(false);
        const ahead = await go(true);
        expect(ahead.reports).toEqual(plain.reports);
        expect(ahead.savedMs).toBeGreaterThan(TESTS * ROUND_TRIP_MS);
      },
    );
  });
}
