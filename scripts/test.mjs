import { existsSync } from 'node:fs';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';
import { readReport, tally, tallyLine } from './tally.mjs';

/**
 * `npm test`: the first gear of the project's own tests (test/gears.ts), on the built package and real Chromium.
 * `npm run test:all` (`--all`): every test. Arguments for Playwright Test select from every test.
 * `POOLWRIGHT_GEAR=rest`: what the first gear leaves out.
 */

const RESULTS = 'test-results/results.json';

await main(async () => {
  const args = process.argv.slice(2);
  const { POOLWRIGHT_GEAR: gear = args.length > 0 ? 'all' : 'first' } = process.env;
  const selecting = args.filter((arg) => arg !== '--all');
  await setUp();
  const code = await playwrightTest(selecting, { POOLWRIGHT_GEAR: gear });
  if (existsSync(RESULTS)) console.log(tallyLine(tally([readReport(RESULTS)])));
  return code;
});
