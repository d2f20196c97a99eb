/** Configs and suites that several end-to-end tests share. */

/** Returns a wrapped config: `options` is the second argument as source text, `extra` adds keys to the config. */
export function wrappedConfig(options = '{}', extra = ''): string {
  return `
import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';
export default defineConfig(withHostedBrowsers({
  testDir: './tests',
  reporter: [['list'], ['json']],
  use: { baseURL: process.env.SITE_URL },
  ${extra}
}, ${options}));
`;
}

/** Returns a test file with this body after plain imports. */
export function suite(body: string): string {
  return `import { test, expect } from '@playwright/test';\n${body}\n`;
}

/** A test that opens a page, prints that it is ready, and then stays until something ends it. */
export const STAYS = suite(`
test('stays', async ({ page }) => {
  test.setTimeout(0);
  await page.goto('about:blank');
  console.log('WORKER ' + process.pid);
  await new Promise(() => undefined);
});`);
