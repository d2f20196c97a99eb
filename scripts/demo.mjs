import { existsSync } from 'node:fs';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/** `npm run demo`: the basic example on the emulator, with two workers. */
await main(async () => {
  await setUp();
  const directory = 'examples/basic';
  // Without a key, and not taken for a CI run: the embedded emulator.
  const env = { CI: '', POOLWRIGHT_API_KEY: '', POOLWRIGHT_BASE_URL: '', PLAYWRIGHT_HTML_OPEN: 'never' };
  const code = await playwrightTest(['-c', directory, '--workers=2', ...process.argv.slice(2)], env);
  if (existsSync(`${directory}/playwright-report/index.html`)) {
    console.log(
      `\nReport:  ${directory}/playwright-report/index.html  (npx playwright show-report ${directory}/playwright-report)`,
    );
  }
  return code;
});
