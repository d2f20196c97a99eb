import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';
import { main, playwrightTest } from './playwright.mjs';

/** `npm test`: the project's own tests, on the built package and real Chromium. */
await main(async () => {
  await ensureBuilt();
  await ensureChromium();
  return await playwrightTest(process.argv.slice(2));
});
