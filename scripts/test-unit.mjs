import { ensureOptions } from './options.mjs';
import { ensurePages } from './pages.mjs';
import { main, playwrightTest } from './playwright.mjs';

/** `npm run test:unit`: the tests that need neither the built package nor a browser. */
await main(async () => {
  await Promise.all([ensurePages(), ensureOptions()]);
  return await playwrightTest(['--project=unit', ...process.argv.slice(2)]);
});
