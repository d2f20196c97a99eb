import { join } from 'node:path';
import { runRecord } from '../../src/record/run-record.ts';
import { type Consumer, makeConsumer } from '../../test/support/e2e/consumer.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Figures } from '../measuring/samples.ts';
import { median } from '../measuring/statistics.ts';
import { decimals } from '../report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { type EmulatorProcess, startEmulator } from '../surroundings/emulator.ts';
import { runPlaywright } from './playwright-run.ts';

const SHARDS = 4;
const FILES = 16;
const TESTS = 4;
/** How long the shortest file takes, in ms, and how many times as long the longest one. */
const SHORTEST_MS = 500;
const RATIO = 20;
const GOAL = 1.08;
const SIDES = { playwright: "Playwright's shards", balanced: 'balanced shards' };

/** Whether shards end together. */
export const shardsSuite: Suite = {
  name: 'shards',
  title: 'Shards',
  about: `${FILES} files of ${TESTS} tests that open a page and wait; the longest file takes ${RATIO} times as long as the shortest. ${SHARDS} shards run at the same time, each a \`playwright test\` with one worker on a session of the emulator. Timings are those of one run without shards. A shard takes from the start of its run to its end, by its record; a browser, from its start to its end.`,
  rounds: 3,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const consumer = await makeConsumer('latest');
  try {
    await consumer.write(filesOf(order.rounds === 1 ? 0.1 : 1));
    await play(consumer, emulator, ['--workers=4'], 'whole', SIDES.balanced);
    await consumer.write({ 'poolwright-timings.json': await consumer.read('whole/poolwright/timings.json') });
    const sides = Object.values(SIDES);
    const samples = await interleave(sides, order, async (side) => await measure(consumer, emulator, side));
    const middle = (side: string, figure: string) => median(samples.values(side, figure));
    const rows = sides.map((side) => [
      side,
      decimals(middle(side, 'slowest'), 1),
      decimals(middle(side, 'mean'), 1),
      decimals(middle(side, 'ratio'), 2),
      decimals(middle(side, 'browserMinutes'), 2),
    ]);
    const head = ['', 'slowest, s', 'mean, s', 'slowest ÷ mean', 'browser-minutes'];
    const browserMinutes = middle(SIDES.balanced, 'browserMinutes') / middle(SIDES.playwright, 'browserMinutes');
    const goals = [
      atMost('the slowest balanced shard ÷ their mean', middle(SIDES.balanced, 'ratio'), GOAL),
      atMost("browser-minutes of balanced shards ÷ Playwright's", browserMinutes, 1.02),
    ];
    return { samples, tables: [{ head, rows }], goals };
  } finally {
    await consumer.remove();
    await emulator.stop();
  }
}

/** All shards at the same time. */
async function measure(consumer: Consumer, emulator: EmulatorProcess, side: string): Promise<Figures> {
  const shards = Array.from({ length: SHARDS }, (_, n) => n + 1);
  const records = await Promise.all(
    shards.map(
      async (shard) => await play(consumer, emulator, [`--shard=${shard}/${SHARDS}`], `shards/${shard}`, side),
    ),
  );
  const seconds = records.map(({ startedAt, endedAt }) => secondsBetween(startedAt, endedAt));
  const browsers = records.flatMap(({ sessions }) => sessions);
  const mean = seconds.reduce((sum, each) => sum + each, 0) / SHARDS;
  const slowest = Math.max(...seconds);
  const browserMinutes = browsers.reduce((sum, each) => sum + secondsBetween(each.startedAt, each.endedAt), 0) / 60;
  return { slowest, mean, ratio: slowest / mean, browserMinutes };
}

/** @throws Error with the run's output, if it does not pass */
async function play(consumer: Consumer, emulator: EmulatorProcess, args: string[], output: string, side: string) {
  const env = {
    POOLWRIGHT_BASE_URL: emulator.baseURL,
    POOLWRIGHT_API_KEY: emulator.apiKey,
    BENCH_OUTPUT: output,
    BENCH_BALANCED: side === SIDES.balanced ? '1' : '',
  };
  const run = await runPlaywright(consumer.playwrightCli, args, consumer.directory, env);
  if (run.code !== 0) throw new Error(`A run of ${side} did not pass. Its output:\n${run.output}`);
  return runRecord.parse(JSON.parse(await consumer.read(join(output, 'poolwright/run.json'))));
}

function secondsBetween(start: string, end: string | null): number {
  return (Date.parse(end ?? '') - Date.parse(start)) / 1000;
}

/** @param scale of what the tests wait */
function filesOf(scale: number): Record<string, string> {
  const files = Array.from({ length: FILES }, (_, n) => {
    const ms = Math.round((scale * SHORTEST_MS * RATIO ** (n / (FILES - 1))) / TESTS);
    const tests = `import { test } from '@playwright/test';
for (let n = 0; n < ${TESTS}; n += 1) test('waits ' + n, async ({ page }) => {
  await page.goto('data:text/html,<title>here</title>');
  await page.waitForTimeout(${ms});
});
`;
    // The names are in another order than the durations.
    return [`tests/${String((n * 7) % FILES).padStart(2, '0')}.spec.ts`, tests];
  });
  return {
    ...Object.fromEntries(files),
    'playwright.config.ts': `import { withHostedBrowsers } from 'poolwright';
export default withHostedBrowsers(
  { testDir: './tests', workers: 1, reporter: 'line', outputDir: process.env.BENCH_OUTPUT },
  process.env.BENCH_BALANCED ? {} : { shards: false },
);
`,
  };
}
