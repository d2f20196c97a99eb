import type { Browser, Page } from '@playwright/test';
import { comparable, expect, test } from '../../support/cdp/two-ways.ts';

/** What Playwright sends and gets over a far link is the same with everything sent ahead, but for the clock. */

const TESTS = 4;

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

for (const onFullChromium of [false, true]) {
  test.describe(onFullChromium ? 'full Chromium' : 'headless shell', () => {
    test.use({ onFullChromium });
    test.setTimeout(180_000);

    test('a small suite: the same commands, answers and events', async ({ bothWays, site }) => {
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
      // Some 40 round trips of 10 ms a test, from the second on.
      expect(ahead.savedMs).toBeGreaterThan(TESTS * 100);
    });
  });
}
