import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/** `npm test`: the project's own tests, on the built package and real Chromium. */
await main(async () => {
  await setUp();
  return await playwrightTest(process.argv.slice(2));
});
