/** A suite of a new user, and what `init` makes of it. */

export const CONFIG = `import { defineConfig, devices } from '@playwright/test';

/** What is tested. */
export default defineConfig({
  testDir: './tests',
  reporter: 'line', // short
  projects: [{ name: 'chromium', use: { ...devices['Desktop Chrome'] } }],
});
`;
export const SPEC = `import { expect, test } from '@playwright/test';
test('a page', async ({ page }) => {
  await page.setContent('<h1>hello</h1>');
  await expect(page.locator('h1')).toHaveText('hello');
});`;

/** A separate repository, because this one is not the user's. */
export const SUITE = { '.git/HEAD': 'ref: refs/heads/main\n', 'playwright.config.ts': CONFIG, 'tests/a.spec.ts': SPEC };
export const ADDED = 'export default withHostedBrowsers(config);';
