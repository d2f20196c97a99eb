import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { INSTALLED, install, nodeBinary } from './installed.mjs';
import { main } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/versions.mjs`: the same end-to-end tests on every supported version of runner, client and Node; writes
 * bench/results/versions.md. `node scripts/versions.mjs 'Vitest 5' 'Playwright 1.60'` runs the combinations whose name
 * contains one of these, and keeps the other rows. Not part of the tests: it installs what it needs below
 * node_modules/.cache.
 */
const PLAYWRIGHTS = [
  { version: '1.48', nodes: [20, 22] },
  {
    version: '1.48',
    nodes: [24],
    except: {
      tests: 'configs that Playwright loads: .mjs',
      why: 'Playwright before 1.53 hangs on a config in JavaScript with ES modules, also without poolwright',
    },
  },
  ...['1.52', '1.56', '1.60', '1.62'].map((version) => ({ version, nodes: [20] })),
  { version: 'latest', nodes: [20, 22, 24] },
];

/** With Puppeteer: the oldest versions that are supported, then the others, each on the oldest Node that it allows. */
const PUPPETEER_RUNNERS = [
  {
    runner: 'vitest',
    version: '3.2.0',
    puppeteer: '22.0.0',
    nodes: [20],
    except: { tests: 'after SIGKILL of a process', why: 'Vitest 3 ends the run when a worker process is killed' },
  },
  { runner: 'vitest', version: '4', puppeteer: '24', nodes: [20] },
  { runner: 'vitest', version: '5', puppeteer: '25', nodes: [22, 24] },
  { runner: 'jest', version: '29.0.0', puppeteer: '22.0.0', nodes: [20] },
  { runner: 'jest', version: '29', puppeteer: '24', nodes: [20] },
  { runner: 'jest', version: '30', puppeteer: '25', nodes: [22, 24] },
  { runner: 'mocha', version: '10.0.0', puppeteer: '22.0.0', nodes: [20] },
  { runner: 'mocha', version: '11', puppeteer: '24', nodes: [20] },
  { runner: 'mocha', version: '12', puppeteer: '25', nodes: [22, 24] },
  { runner: 'node-test', puppeteer: '22.0.0', nodes: [20] },
  { runner: 'node-test', puppeteer: '25', nodes: [22, 24] },
];

/** Names of the runners, and packages without which they do not run. */
const NAMES = { vitest: 'Vitest', jest: 'Jest', mocha: 'Mocha', 'node-test': 'node:test' };
const COMPANIONS = { jest: ['jest-environment-node'] };

const PAGE = join('bench', 'results', 'versions.md');
const HEAD = `# Versions

Made with \`node scripts/versions.mjs\`: the packed package beside each combination, and the same end-to-end tests on the emulator.
Playwright's are those tagged \`@versions\`, with full Chromium for every session; the other runners' are \`test/e2e/runners\`
and \`test/e2e/puppeteer\`, without the examples, which have their own dependencies.

| runner | client | Node | tests | result |
| --- | --- | --- | --- | --- |
`;

/** Full Chromium for every session of Playwright: the tests of every day have plain ones on the headless shell. */
let fullChromium = {};

await main(async () => {
  await setUp();
  const { full } = await (await import('../dist/emulator.js')).findChromiums();
  if (full) fullChromium = { POOLWRIGHT_CHROMIUM: full.path };
  const asked = process.argv.slice(2);
  const all = [...PLAYWRIGHTS.flatMap(playwright), ...PUPPETEER_RUNNERS.flatMap(puppeteerRunner)];
  const chosen = all.filter(({ name }) => asked.length === 0 || asked.some((part) => name.includes(part)));
  const rows = new Map(asked.length > 0 ? savedRows() : []);
  let failed = 0;
  for (const combination of chosen) {
    const { key, stats } = run(combination);
    const failures = stats.unexpected + stats.flaky;
    const isPassed = failures === 0 && stats.expected > 0;
    if (!isPassed) failed++;
    rows.set(
      key,
      `${key} | ${stats.expected + failures} | ${isPassed ? 'passed' : `${failures} failed`}${combination.note} |`,
    );
    // After each, so that what has run is on record when the rest does not come to its end.
    writeFileSync(PAGE, `${HEAD}${[...rows.values()].toSorted(byName).join('\n')}\n`);
  }
  return failed > 0 || chosen.length === 0 ? 1 : 0;
});

function byName(one, other) {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** The rows of the last time, by their cells that name the combination. */
function savedRows() {
  const rows = readFileSync(PAGE, 'utf8').match(/^\| [A-Za-z].* \| v\d.*$/gm) ?? [];
  return rows.map((row) => [row.split(' |').slice(0, 3).join(' |'), row]);
}

/** A row of PLAYWRIGHTS, on each of its Nodes. */
function playwright({ version, nodes, except }) {
  return nodes.map((node) => ({
    name: `Playwright ${version} on Node ${node}`,
    node,
    tests: ['--grep=@versions', ...(except ? [`--grep-invert=${except.tests}`] : [])],
    note: noteOf(except),
    prepare: () => {
      const range = version === 'latest' ? 'latest' : `~${version}.0`;
      const directory = install(`playwright-${version}`, [`@playwright/test@${range}`], join('@playwright', 'test'));
      return {
        runner: `Playwright ${versionOf(directory)}`,
        client: 'Playwright',
        env: { ...fullChromium, TEST_PLAYWRIGHT: directory },
      };
    },
  }));
}

/** A runner with Puppeteer, each installed into a separate directory. */
function puppeteerRunner({ runner, version, puppeteer, nodes, except }) {
  return nodes.map((node) => ({
    name: `${NAMES[runner]} ${version ?? ''} with puppeteer-core ${puppeteer} on Node ${node}`,
    node,
    tests: [
      join('e2e', 'runners'),
      join('e2e', 'puppeteer'),
      `--grep=runners.${runner}|spec.ts (where no page matters )?${runner} |e2e.puppeteer`,
      `--grep-invert=${['runs the example', ...(except ? [except.tests] : [])].join('|')}`,
    ],
    note: noteOf(except),
    prepare: () => {
      const packages = version ? [runner, ...(COMPANIONS[runner] ?? [])].map((each) => `${each}@${version}`) : [];
      const directory = `${runner}-${version ?? 'node'}-puppeteer-core-${puppeteer}`;
      const client = install(directory, [...packages, `puppeteer-core@${puppeteer}`], 'puppeteer-core');
      const modules = dirname(client);
      return {
        runner: version ? `${NAMES[runner]} ${versionOf(join(modules, runner))}` : NAMES[runner],
        client: `puppeteer-core ${versionOf(client)}`,
        env: { TEST_PACKAGES: modules },
      };
    },
  }));
}

function noteOf(except) {
  return except ? `; 1 not run: ${except.why}` : '';
}

function versionOf(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).version;
}

/** Runs the tests of a combination. @returns the row's first cells, and the counts */
function run({ name, node, tests, prepare }) {
  console.log(`\n${name}`);
  const { runner, client, env } = prepare();
  const binary = nodeBinary(node);
  const nodeVersion = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const results = join(INSTALLED, 'results.json');
  const cli = join('node_modules', '@playwright', 'test', 'cli.js');
  // Full Chromium takes three times the processor time of the shell: with the usual five workers, tests time out.
  const more = ['--workers=2', '--reporter=list,json'];
  spawnSync(process.execPath, [cli, 'test', '--project=e2e', ...tests, ...more], {
    stdio: 'inherit',
    env: { POOLWRIGHT_RUNS: 'all', ...process.env, ...env, TEST_NODE: binary, PLAYWRIGHT_JSON_OUTPUT_NAME: results },
  });
  const { stats } = JSON.parse(readFileSync(results, 'utf8'));
  return { key: `| ${runner} | ${client} | ${nodeVersion}`, stats };
}
