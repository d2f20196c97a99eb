import type { Browser, Page } from '@playwright/test';
import { BROWSER_KINDS } from '../../support/cdp/browser-kinds.ts';
import { comparable, expect, test } from '../../support/cdp/two-ways.ts';

/** Playwright sends and gets the same over a slow connection with everything sent early, except for timestamps. */

/** The first one teaches. */
const TESTS = 2;

const FORM = `
  <input id="name"><input type="checkbox" id="agree">
  <select id="size"><option>small<option>large</select>
  <button onclick="document.querySelector('p').textContent = 'sent ' + document.querySelector('#name').value">Send</button>
  <p></p>`;

async function inPage(browser: Browser, use: (page: Page) => Promise<unknown>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, locale: 'en-US' });
  await use(await context.newPage());
  await context.close();
}

for (const { name, onFullChromium, filmed } of BROWSER_KINDS) {
  test.describe(name, () => {
    test.use({ onFullChromium, filmed });
    test.setTimeout(180_000);

    test('exchanges the same commands, responses and events in a small suite', async ({ bothWays, site }) => {
      const { plain, ahead } = await bothWays(async ({ browser, seen, savings }) => {
        for (let number = 0; number < TESTS; number += 1) {
          await inPage(browser, async (page) => {
            await page.goto(site.url);
            await page.setContent(FORM);
            await page.locator('#name').fill(`test ${number}`);
            await page.locator('#agree').check();
            await page.locator('#size').selectOption('large');
            await page.getByRole('button', { name: 'Send' }).click();
            expect(await page.locator('p').textContent()).toBe(`sent test ${number}`);
            await page.locator('#name').press('End');
            await page.locator('button').hover();
          });
        }
        return { ...comparable(seen), savedMs: savings.savedMs };
      });
      expect(ahead.commands).toEqual(plain.commands);
      expect(ahead.answers).toEqual(plain.answers);
      expect(ahead.events).toEqual(plain.events);
      expect(plain.savedMs).toBe(0);
      // About 40 round trips of 10 ms per test, from the second one on.
      expect(ahead.savedMs).toBeGreaterThan(TESTS * 100);
    });
  });
}
