import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { runPlaywright } from '../bench/runs/playwright-run.ts';
import { makeConsumer } from '../test/support/e2e/consumer.ts';
import { startStubEmulator } from '../test/support/stub/start.ts';
import { type Check, type CheckedRun, checksOf, readCheckedRuns } from '../test/support/unit/advise/checked-runs.ts';

/**
 * `node scripts/advise-check.mjs`: real runs of suites that wait, with one, two and four workers and in one and two
 * shards; what each of their records says of the others goes to bench/results/advise.md, and the records to the tests.
 * `--again` uses the committed records: after a change of the simulation.
 */

const RECORDS = 'test/support/unit/advise/checked-runs.jsonl';
const PAGE = 'bench/results/advise.md';
/** A browser takes so long to start, and up to so much more, in ms. */
const START = { startDelay: 1_500, startJitter: 500 };

/** What each test of each file waits, in ms. A negative one fails at its first try. */
const FILES: Record<string, number[]> = {
  'us/a': [2_400, 1_600, 3_600],
  'us/b': [1_200, 1_200],
  'us/c': [8_000, 6_000, 10_000, 4_000],
  'us/d': [2_000],
  'us/e': [4_800, 3_200],
  'us/f': [-1_600, 2_800, 1_200],
  'us/g': [6_000],
  'us/h': [1_000, 1_000, 1_000, 1_000],
  'de/i': [3_600, 2_400],
  'de/j': [4_400],
  'de/k': [2_800, 2_800],
  'de/l': [1_400, 1_800, 2_200],
};

const SUITES = [
  {
    suite: 'files in one go',
    config: '',
    plans: [
      { workers: 1, shards: 1 },
      { workers: 2, shards: 1 },
      { workers: 4, shards: 1 },
      { workers: 2, shards: 2 },
    ],
  },
  {
    suite: 'fullyParallel',
    config: 'fullyParallel: true,',
    plans: [
      { workers: 1, shards: 1 },
      { workers: 4, shards: 1 },
    ],
  },
];

if (!process.argv.includes('--again')) {
  const made: CheckedRun[] = [];
  for (const { suite, config, plans } of SUITES) {
    for (const plan of plans) {
      console.log(`${suite}: ${plan.workers} workers × ${plan.shards} shards`);
      made.push({ suite, ...plan, records: await runSuite(config, plan) });
    }
  }
  writeFileSync(RECORDS, made.map((run) => `${JSON.stringify(run)}\n`).join(''));
}
const checks = checksOf(readCheckedRuns(RECORDS));
const text = report(checks);
console.log(text);
const page = readFileSync(PAGE, 'utf8');
writeFileSync(
  PAGE,
  page.replace(/(<!-- checked -->\n)[\s\S]*(<!-- \/checked -->)/, (_, from, to) => `${from}\n${text}\n${to}`),
);

async function runSuite(config: string, { workers, shards }: { workers: number; shards: number }) {
  const emulator = await startStubEmulator({ concurrentBrowsers: 16, ...START });
  const consumer = await makeConsumer('latest');
  try {
    const { baseURL, apiKey } = emulator;
    await consumer.write({ 'playwright.config.ts': configOf(config), ...testFiles() });
    const records = [];
    for (let current = 1; current <= shards; current += 1) {
      const args = [`--workers=${workers}`, ...(shards > 1 ? [`--shard=${current}/${shards}`] : [])];
      const env = { POOLWRIGHT_BASE_URL: baseURL, POOLWRIGHT_API_KEY: apiKey };
      const { code, output } = await runPlaywright(consumer.playwrightCli, args, consumer.directory, env);
      if (code !== 0) throw new Error(`a run ended with code ${code}:\n${output}`);
      records.push(JSON.parse(await consumer.read('test-results/poolwright/run.json')));
    }
    return records;
  } finally {
    await consumer.remove();
    await emulator.stop();
  }
}

function configOf(extra: string): string {
  return `import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';
export default defineConfig(withHostedBrowsers({
  testDir: './tests', retries: 1, timeout: 60_000, reporter: 'line', ${extra}
  projects: [
    { name: 'us', testMatch: 'us/*' },
    { name: 'de', testMatch: 'de/*', use: { hosted: { session: { country: 'DE' } } } },
  ],
}));
`;
}

function testFiles(): Record<string, string> {
  const sourceOf = (waits: number[]) =>
    waits
      .map((ms, n) => {
        const fails = ms < 0 ? 'expect(test.info().retry).toBe(1);' : '';
        return `test('${n} waits ${Math.abs(ms)} ms', async ({ page }) => {
  await page.goto('about:blank');
  await new Promise((resolve) => setTimeout(resolve, ${Math.abs(ms)}));
  ${fails}
});`;
      })
      .join('\n');
  return Object.fromEntries(
    Object.entries(FILES).map(([name, waits]) => [
      `tests/${name}.spec.ts`,
      `import { expect, test } from '@playwright/test';\n${sourceOf(waits)}\n`,
    ]),
  );
}

function report(all: Check[]): string {
  const errors = all
    .filter(isOther)
    .map(({ error }) => Math.abs(error))
    .sort((a, b) => a - b);
  const tables = [...new Set(all.map(({ suite }) => suite))].map((suite) =>
    table(all.filter((each) => each.suite === suite)),
  );
  const [median, most] = [errors[Math.floor(errors.length / 2)] ?? 0, errors.at(-1) ?? 0];
  return [
    `On ${cpus().length} cores. Of ${errors.length} predictions for other numbers, half are within ${percent(median)}, all within ${percent(most)}.`,
    ...tables,
  ].join('\n\n');
}

function isOther({ from, to }: Check): boolean {
  return from.workers !== to.workers || from.shards !== to.shards;
}

function table(checks: Check[]): string {
  const columns = [...new Set(checks.map(({ to }) => name(to)))];
  const rows = columns.map((from) => {
    const cells = columns.map((to) => {
      const check = checks.find((each) => name(each.from) === from && name(each.to) === to);
      return check
        ? `${seconds(check.predictedMs)} (${check.error < 0 ? '−' : '+'}${percent(Math.abs(check.error))})`
        : '';
    });
    return `| from ${from} | ${cells.join(' | ')} |`;
  });
  const real = columns.map((to) => seconds(checks.find((each) => name(each.to) === to)?.realMs ?? 0));
  return [
    `| ${checks[0]?.suite} | ${columns.join(' | ')} |`,
    `| --- |${columns.map(() => ' ---: |').join('')}`,
    `| **real** | ${real.map((each) => `**${each}**`).join(' | ')} |`,
    ...rows,
  ].join('\n');
}

function name({ workers, shards }: { workers: number; shards: number }): string {
  const word = `${workers} ${workers === 1 ? 'worker' : 'workers'}`;
  return shards === 1 ? word : `${word} × ${shards} shards`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
