/** Configs and suites that several end-to-end tests share. */

/** A wrapped config: `options` is the second argument as source text, `extra` further keys of the config. */
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

/** A test file with plain imports around this body. */
export function suite(body: string): string {
  return `import { test, expect } from '@playwright/test';\n${body}\n`;
}

/** A test that opens the site, says so, and then stays until something ends it. */
export const STAYS = suite(`
test('stays', async ({ page }) => {
  test.setTimeout(0);
  await page.goto('/');
  console.log('WORKER ' + process.pid);
  await new Promise(() => undefined);
});`);
