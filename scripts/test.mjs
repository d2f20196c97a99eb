import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';
import { main, playwrightTest } from './playwright.mjs';

/** `npm test`: the project's own tests, on the built package and real Chromium. */
await main(async () => {
  process.env.CHAOS_SEED ??= String(Math.floor(Math.random() * 100_000));
  console.log(`CHAOS_SEED=${process.env.CHAOS_SEED}`); // what the random runs of the fault suite are drawn from
  ensureBuilt();
  await ensureChromium();
  return await playwrightTest(process.argv.slice(2));
});
