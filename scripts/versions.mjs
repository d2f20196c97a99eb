import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';
import { INSTALLED, install, nodeBinary } from './installed.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/versions.mjs`: the same end-to-end tests on every supported Playwright and Node; writes
 * bench/results/versions.md. `node scripts/versions.mjs 1.60 latest@22` runs those only (`@22`: on that Node) and keeps
 * the other rows. Not part of the tests: it installs what it needs below node_modules/.cache.
 */
const PLAYWRIGHTS = ['1.48', '1.52', '1.56', '1.60', '1.62', 'latest'];
/** The oldest and the latest on the other Nodes, too. */
const OTHER_NODES = ['1.48@22', 'latest@22', '1.48@24', 'latest@24'];
/** The tests that depend on what Playwright does; those of every day run on the latest, and one suite on the oldest. */
const TAG = '@versions';

const PAGE = join('bench', 'results', 'versions.md');

/** Full Chromium for every session: the tests of every day have plain ones on the headless shell. */
let fullChromium = {};

await main(async () => {
  await ensureBuilt();
  await ensureChromium();
  const { full } = await (await import('../dist/emulator.js')).findChromiums();
  if (full) fullChromium = { POOLWRIGHT_CHROMIUM: full.path };
  const asked = process.argv.slice(2);
  const rows = [];
  for (const wanted of asked.length > 0 ? asked : [...PLAYWRIGHTS, ...OTHER_NODES]) {
    const [version, node] = wanted.split('@');
    rows.push(run({ playwright: playwright(version), ...(node && { node: nodeBinary(node) }) }));
    write([...rowsOfBefore(rows), ...rows]);
  }
  return write(asked.length > 0 ? [...rowsOfBefore(rows), ...rows] : rows);
});

function savedPage() {
  return existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
}

/** Rows of the last time that were not run again. */
function rowsOfBefore(rows) {
  const again = new Set(rows.map(({ row }) => row.split('|').slice(1, 3).join()));
  const lines = (savedPage().split('\n## ')[0] ?? '').split('\n');
  return lines
    .filter((line) => /^\| \d/.test(line) && !again.has(line.split('|').slice(1, 3).join()))
    .map((row) => ({ row, ok: row.includes('passed') }));
}

/** The page's other sections, which this script does not measure. */
function otherRunners() {
  const page = savedPage();
  const start = page.indexOf('\n## ');
  return start === -1 ? '' : page.slice(start);
}

/** After each row, so that what has run is on record when the rest does not come to its end. */
function write(unsorted) {
  const rows = unsorted.toSorted((a, b) => a.row.localeCompare(b.row, 'en', { numeric: true }));
  const table = [
    '| Playwright | Node | tests | result |',
    '| --- | --- | --- | --- |',
    ...rows.map(({ row }) => row),
  ].join('\n');
  console.log(`\n${table}`);
  writeFileSync(
    PAGE,
    `# Versions\n\nMade with \`node scripts/versions.mjs\`: the same end-to-end tests on each, with full Chromium behind the emulator.\n\n${table}\n${otherRunners()}`,
  );
  return rows.every(({ ok }) => ok) ? 0 : 1;
}

/** The directory of `@playwright/test` in this version, installed when it is not there. */
function playwright(version) {
  const range = version === 'latest' ? 'latest' : `~${version}.0`;
  return install(`playwright-${version}`, `@playwright/test@${range}`, join('@playwright', 'test'));
}

function run({ playwright: directory, node = process.execPath }) {
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const nodeVersion = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`\nPlaywright ${version} on Node ${nodeVersion}`);
  const results = join(INSTALLED, 'results.json');
  const cli = join('node_modules', '@playwright', 'test', 'cli.js');
  const args = [cli, 'test', '--project=e2e', '--grep', TAG, '--reporter=list,json'];
  spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...fullChromium,
      TEST_PLAYWRIGHT: directory,
      TEST_NODE: node,
      PLAYWRIGHT_JSON_OUTPUT_NAME: results,
    },
  });
  const { stats } = JSON.parse(readFileSync(results, 'utf8'));
  const failed = stats.unexpected + stats.flaky;
  const ok = failed === 0 && stats.expected > 0;
  return {
    ok,
    row: `| ${version} | ${nodeVersion} | ${stats.expected + failed} | ${ok ? 'passed' : `${failed} failed`} |`,
  };
}
