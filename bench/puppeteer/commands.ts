import { interleave } from '../measuring/interleave.ts';
import type { Figures } from '../measuring/samples.ts';
import { Samples } from '../measuring/samples.ts';
import { median, quartileRatio } from '../measuring/statistics.ts';
import { decimals, type Table } from '../report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startOwnChromium } from '../surroundings/own-chromium.ts';
import { outsideAddress, startSite } from '../surroundings/site.ts';
import { connect, type Way } from './connect.ts';
import { FIXED, oneTest, STEPS } from './one-test.ts';
import { LATEST, loadPuppeteer, VERSIONS } from './versions.ts';

const ROUND_TRIP_MS = 100;
const ALL_STEPS = ['connect', ...STEPS, FIXED];
/** The first ones teach what will be sent; the last one counts. */
const FAR_TESTS = 4;
/** Tests on one connection without distance; the median of those after the first one counts. */
const NEAR_TESTS = 6;
/** How much slower than plain Puppeteer one command may be without distance. */
const NEAR_LIMIT = 1.1;

/** A version of Puppeteer, and how it is connected. */
interface Side {
  name: string;
  version: string;
  way: Way;
}

const FAR_WAYS: Way[] = ['plain', 'poolwright'];
const FAR: Side[] = VERSIONS.flatMap((version) => FAR_WAYS.map((way) => ({ name: `${version} ${way}`, version, way })));

/** What each command costs far from the browser, in round trips. */
export const farSuite: Suite = {
  name: 'puppeteer-100ms',
  title: `Puppeteer, browsers ${ROUND_TRIP_MS} ms away`,
  about: `What each step costs over a link of ${ROUND_TRIP_MS} ms, in round trips: medians, with plain \`puppeteer.connect\` and through poolwright with default options. The sides of a round run at the same time, each on its own browser: they only wait.`,
  rounds: 3,
  run: runFar,
};

const PLACES = ['direct', 'emulator'] as const;
const NEAR_WAYS: Way[] = ['plain', 'ahead: false', 'poolwright'];
const NEAR = [
  ...PLACES.flatMap((place) => NEAR_WAYS.map((way) => ({ name: `${place} ${way}`, place, version: LATEST, way }))),
];

/** What each command costs beside the browser. */
export const nearSuite: Suite = {
  name: 'puppeteer-0ms',
  title: 'Puppeteer, without distance',
  about:
    "The same steps beside the browser, in ms, on Chromium's own DevTools port and through the emulator's relay: plain `puppeteer.connect`, poolwright with `ahead: false`, and with default options. A ratio is of time, at the lower quartiles: 1 is equal, more is slower.",
  rounds: 12,
  run: runNear,
};

async function runFar(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator(0, ROUND_TRIP_MS);
  const site = await startSite(outsideAddress());
  try {
    const samples = new Samples();
    const addresses = await Promise.all(FAR.map(async () => (await emulator.client.createSession()).cdpUrl ?? ''));
    for (let round = 1; round <= order.rounds; round += 1) {
      order.signal.throwIfAborted();
      order.progress(`round ${round} of ${order.rounds}`);
      const measured = await Promise.all(
        FAR.map(({ version, way }, index) => measureFar(version, way, addresses[index] ?? '', site.url)),
      );
      for (const [index, figures] of measured.entries()) samples.add(FAR[index]?.name ?? '', figures);
    }
    const fixed = VERSIONS.map((version) => median(samples.values(`${version} poolwright`, FIXED)));
    return {
      samples,
      tables: [farTable(samples)],
      goals: [atMost('fixed cost of a test, slowest version', Math.max(...fixed), 1.5)],
    };
  } finally {
    site.close();
    await emulator.stop();
  }
}

async function runNear(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const own = await startOwnChromium(order.chromium);
  const site = await startSite(outsideAddress());
  try {
    const { cdpUrl = null } = await emulator.client.createSession();
    const addresses = { direct: own.cdpUrl, emulator: cdpUrl ?? '' };
    const names = NEAR.map(({ name }) => name);
    const samples = await interleave(names, order, async (side) => {
      const { place = 'direct', version = LATEST, way = 'plain' } = NEAR.find(({ name }) => name === side) ?? {};
      return await measureNear(version, way, addresses[place], site.url);
    });
    const ratio = (place: string, step: string) =>
      quartileRatio(samples.values(`${place} poolwright`, step), samples.values(`${place} plain`, step));
    return {
      samples,
      tables: PLACES.map((place) => nearTable(place, samples, ratio)),
      goals: PLACES.flatMap((place) =>
        STEPS.map((step) => atMost(`${place}, ${step}: time beside plain`, ratio(place, step), NEAR_LIMIT)),
      ),
    };
  } finally {
    site.close();
    await own.stop();
    await emulator.stop();
  }
}

function farTable(samples: Samples): Table {
  return {
    head: ['step', ...FAR.map(({ name }) => name)],
    rows: ALL_STEPS.map((step) => [step, ...FAR.map(({ name }) => decimals(median(samples.values(name, step)), 1))]),
  };
}

function nearTable(place: string, samples: Samples, ratio: (place: string, step: string) => number): Table {
  const sides = NEAR.filter((side) => side.place === place).map(({ name }) => name);
  return {
    head: [place, ...sides.map((name) => name.slice(place.length + 1)), 'poolwright : plain'],
    rows: ALL_STEPS.map((step) => [
      step,
      ...sides.map((name) => decimals(median(samples.values(name, step)), 2)),
      decimals(ratio(place, step), 3),
    ]),
  };
}

/** One connection and some tests, in round trips. */
async function measureFar(version: string, way: Way, cdpUrl: string, url: string): Promise<Figures> {
  const tests = await measure(version, way, cdpUrl, url, FAR_TESTS);
  const figures = { ...tests[0], ...tests.at(-1) };
  return Object.fromEntries(Object.entries(figures).map(([step, ms]) => [step, ms / ROUND_TRIP_MS]));
}

/** One connection and some tests, in ms. */
async function measureNear(version: string, way: Way, cdpUrl: string, url: string): Promise<Figures> {
  const [{ connect = Number.NaN } = {}, ...tests] = await measure(version, way, cdpUrl, url, NEAR_TESTS);
  const medians = [...STEPS, FIXED].map((step) => [step, median(tests.map((test) => test[step] ?? Number.NaN))]);
  return { connect, ...Object.fromEntries(medians) };
}

/** What each test took, in ms; the first one has `connect`, too. */
async function measure(version: string, way: Way, cdpUrl: string, url: string, count: number): Promise<Figures[]> {
  const puppeteer = await loadPuppeteer(version);
  const start = performance.now();
  const browser = await connect(puppeteer, way, cdpUrl);
  const tests: Figures[] = [{ connect: performance.now() - start }];
  for (let test = 0; test < count; test += 1) {
    const figures = await oneTest(browser, url);
    tests.push(figures);
  }
  await browser.disconnect();
  return tests;
}
