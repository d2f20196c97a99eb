import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';
import { main, playwrightTest } from './playwright.mjs';

/** `npm run test:long`: every property with all of its cases, of a new seed unless `POOLWRIGHT_SEED` is set. */

const PROJECTS = ['unit', 'emulator', 'cdp'];

await main(async () => {
  ensureBuilt();
  await ensureChromium();
  const { POOLWRIGHT_SEED: seed = String(Math.floor(Math.random() * 100_000)) } = process.env;
  console.log(`POOLWRIGHT_SEED=${seed}`);
  const projects = PROJECTS.map((name) => `--project=${name}`);
  return await playwrightTest([...projects, ...process.argv.slice(2)], {
    POOLWRIGHT_RUNS: 'all',
    POOLWRIGHT_SEED: seed,
  });
});
