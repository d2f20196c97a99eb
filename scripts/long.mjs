import { spawnSync } from 'node:child_process';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/long.mjs`: what `npm test` leaves out or shortens. Every property with all of its cases, of a new seed
 * unless `POOLWRIGHT_SEED` is set, and every test of the emulator and of CDP, also the `@slow` ones; then the
 * end-to-end tests that are `@slow` (left out) or `@long` (shortened); then build and unit tests without each feature.
 * Those of `faults`: `scripts/faults.mjs`.
 */

const PROJECTS = ['unit', 'emulator', 'cdp'];

await main(async () => {
  await setUp();
  const { POOLWRIGHT_SEED: seed = String(Math.floor(Math.random() * 100_000)) } = process.env;
  console.log(`POOLWRIGHT_SEED=${seed}`);
  const projects = PROJECTS.map((name) => `--project=${name}`);
  const args = process.argv.slice(2);
  const env = { POOLWRIGHT_RUNS: 'all', POOLWRIGHT_SEED: seed };
  const properties = await playwrightTest([...projects, ...args], env);
  const endToEnd = ['--project=e2e', '--grep=@slow|@long', '--pass-with-no-tests'];
  const slow = await playwrightTest([...endToEnd, ...args], env);
  const features = spawnSync(process.execPath, ['scripts/without.mjs', '--run'], { stdio: 'inherit' });
  return properties || slow || (features.status ?? 1);
});
