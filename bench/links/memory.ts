import v8 from 'node:v8';
import { type Browser, chromium } from 'playwright-core';
import { Meter, Savings } from '../../src/cdp/figures.ts';
import { openTransport } from '../../src/cdp/pipeline.ts';
import { Samples } from '../measuring/samples.ts';
import { decimals } from '../report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startSite } from '../surroundings/site.ts';

const SIDES = ['address', 'transport'] as const;
const TESTS_A_ROUND = 100;
const NAVIGATIONS_A_TEST = 10;
/** Enough to show that everything works. */
const TESTS_OF_SHORT_FORM = 5;
const HEAP = 'heap';
const COLLECTIONS = 8;

/** Counts objects, for which it first collects all garbage. In Node since 20.13. */
const { queryObjects } = v8 as unknown as { queryObjects(of: unknown, options: { format: 'count' }): number };

/** What a connection keeps in memory of the tests that it has served. */
export const memorySuite: Suite = {
  name: 'memory',
  title: 'The memory of a connection',
  about: `The heap of a process after garbage collection, with one connection that serves ${TESTS_A_ROUND} tests of ${NAVIGATIONS_A_TEST} navigations in each round: by address, which is what Playwright itself keeps, and through the transport with all interceptors; MB.`,
  rounds: 10,
  run,
};

async function run({ rounds, signal, progress }: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const site = await startSite();
  const samples = new Samples();
  const tests = rounds === 1 ? TESTS_OF_SHORT_FORM : TESTS_A_ROUND;
  try {
    // One side after the other: each is alone in the heap.
    for (const side of SIDES) {
      const { cdpUrl } = await emulator.client.createSession();
      if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
      const browser = await connect(side, cdpUrl);
      // Code is compiled and caches fill in the round before the first.
      for (let round = 0; round <= rounds; round += 1) {
        progress(`${side}, round ${round} of ${rounds}`);
        for (let test = 0; test < tests; test += 1) {
          signal.throwIfAborted();
          await oneTest(browser, site.url);
        }
        samples.add(side, { [HEAP]: heapMegabytes() });
      }
      await browser.close();
    }
  } finally {
    site.close();
    await emulator.stop();
  }
  const growth = (side: string) => kilobytesPerThousand(samples.values(side, HEAP), tests * NAVIGATIONS_A_TEST);
  return {
    samples,
    tables: [tableOf(samples, tests, growth)],
    goals: [
      atMost(
        'growth through the transport beyond that by address, in 1,000 navigations',
        growth('transport') - growth('address'),
        20,
        ' kB',
        0,
      ),
    ],
  };
}

function tableOf(samples: Samples, tests: number, growth: (side: string) => number) {
  const count = samples.values('transport', HEAP).length;
  const steps = Array.from({ length: count }, (_, round) => `after ${(round + 1) * tests} tests`);
  return {
    head: ['heap, MB', ...SIDES],
    rows: [
      ...steps.map((step, round) => [
        step,
        ...SIDES.map((side) => decimals(samples.values(side, HEAP)[round] ?? Number.NaN, 2)),
      ]),
      ['growth in 1,000 navigations, kB', ...SIDES.map((side) => decimals(growth(side), 0))],
    ],
  };
}

async function connect(side: string, cdpUrl: string): Promise<Browser> {
  if (side === 'address') return await chromium.connectOverCDP(cdpUrl);
  const transport = await openTransport(cdpUrl, {
    ahead: true,
    sharesBrowser: true,
    savings: new Savings(0),
    auto: { onVisit: () => undefined },
    meter: new Meter(),
  });
  return await chromium.connectOverCDP(transport);
}

async function oneTest(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  for (let number = 0; number < NAVIGATIONS_A_TEST; number += 1) {
    await page.goto(`${url}/?${number}`);
    await page.locator('button').textContent();
  }
  await page.locator('button').click();
  await context.close();
}

function heapMegabytes(): number {
  // V8 drops compiled code that several collections have found unused.
  for (let collections = 0; collections < COLLECTIONS; collections += 1) queryObjects(Map, { format: 'count' });
  return process.memoryUsage().heapUsed / 1024 ** 2;
}

/** The slope of the line that fits the heaps best, one a round. */
function kilobytesPerThousand(heaps: readonly number[], navigationsARound: number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = mean(heaps.map((_, round) => round));
  const level = mean(heaps);
  const covariance = mean(heaps.map((heap, round) => (round - middle) * (heap - level)));
  const variance = mean(heaps.map((_, round) => (round - middle) ** 2));
  return ((covariance / variance) * 1024 * 1000) / navigationsARound;
}
