import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';
import { main, playwrightTest } from './playwright.mjs';

/**
 * `npm run test:faults`: the fault suite at full length. The random runs are those of CHAOS_SEED (a new one unless
 * given), CHAOS_RUNS of them (200 unless given); one of them alone: `CHAOS_SEED=… npm run test:faults -- -g "run 17 "`.
 */
await main(async () => {
  process.env.CHAOS_RUNS ??= '200';
  process.env.CHAOS_SEED ??= String(Math.floor(Math.random() * 100_000));
  console.log(`CHAOS_SEED=${process.env.CHAOS_SEED} CHAOS_RUNS=${process.env.CHAOS_RUNS}`);
  ensureBuilt();
  await ensureChromium();
  return await playwrightTest(['--project=faults', ...process.argv.slice(2)]);
});
