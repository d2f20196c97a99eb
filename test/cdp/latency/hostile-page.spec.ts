import { BROWSER_KINDS } from '../../support/cdp/browser-kinds.ts';
import { HOSTILE_PAGE } from '../../support/cdp/hostile-page.ts';
import { expect, test } from '../../support/cdp/two-ways.ts';

/** A page that observes itself does not notice commands that are sent early: it sees the same in both modes. */

/** The first one teaches. */
const TESTS = 2;

for (const { name, onFullChromium, filmed } of BROWSER_KINDS) {
  test.describe(name, () => {
    test.use({ onFullChromium, filmed });
    test.setTimeout(180_000);

    test('shows a page the same as without `ahead`', async ({ bothWays, greeting }) => {
      const { plain, ahead } = await bothWays(async ({ browser, savings }) => {
        const reports: unknown[] = [];
        for (let number = 0; number < TESTS; number += 1) {
          const context = await browser.newContext();
          const page = await context.newPage();
          await context.route('**/hostile', (route) => route.fulfill({ body: HOSTILE_PAGE, contentType: 'text/html' }));
          for (const path of ['hostile', 'hostile?again']) {
            await page.goto(`${greeting}/hostile`);
            await page.locator('#name').fill('text');
            await page.locator('[type=checkbox]').check();
            await page.locator('select').selectOption('large');
            await page.locator('button').hover();
            await page.locator('button').click();
            await page.locator('#name').press('End');
            await expect(page.locator('button')).toHaveText('Send');
            reports.push([path, JSON.parse(await page.evaluate<string>('report()'))]);
          }
          await context.close();
        }
        return { reports, savedMs: savings.savedMs };
      });
      expect(ahead.reports).toEqual(plain.reports);
      expect(ahead.savedMs).toBeGreaterThan(0);
    });
  });
}
