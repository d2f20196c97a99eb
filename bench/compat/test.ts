import { test as base } from '@playwright/test';

/**
 * The `test` of the compatibility suite: Playwright's own, as in any suite. Only for the column "plain connectOverCDP"
 * it has the fixture that people write by hand.
 */
export const test =
  process.env.COMPAT_WAY === 'cdp'
    ? base.extend({
        browser: [
          async ({ playwright }, use) => {
            const browser = await playwright.chromium.connectOverCDP(process.env.COMPAT_CDP_URL ?? '');
            await use(browser);
            await browser.close();
          },
          { scope: 'worker', timeout: 0 },
        ],
      })
    : base;

export { expect } from '@playwright/test';
