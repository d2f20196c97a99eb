import { type Browser, chromium } from 'playwright-core';
import { Meter } from '../../src/cdp/figures.ts';
import { openTransport } from '../../src/cdp/pipeline.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Figures } from '../measuring/samples.ts';
import { quartileRatio } from '../measuring/statistics.ts';
import { atLeast, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startSite } from '../surroundings/site.ts';
import { stepsTable } from './steps-table.ts';

const ASSETS = 40;
const EVALUATES = 50;
const STEPS = [
  'connect',
  'newContext + newPage',
  `goto, ${ASSETS} assets`,
  'click',
  'screenshot',
  '50 evaluate',
  'all',
];
const SIDES = ['address', 'transport', 'metered'];

/** What our transport costs beside `connectOverCDP(address)`, and what metering costs in it. */
export const transportSuite: Suite = {
  name: 'transport',
  title: 'The transport',
  about:
    "The same steps on one session by its address, through poolwright's transport, and through the transport with metering; ms. A ratio is of speed, at the lower quartiles: 1 is equal, less is slower.",
  rounds: 60,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const site = await startSite();
  try {
    const { cdpUrl } = await emulator.client.createSession();
    if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
    const address = `${site.url}/?assets=${ASSETS}`;
    const samples = await interleave(SIDES, order, (side) => measure(side, cdpUrl, address));
    const speed = (side: string, beside: string) =>
      quartileRatio(samples.values(beside, 'all'), samples.values(side, 'all'));
    const ratios = [
      ['transport', 'address'],
      ['metered', 'transport'],
    ] as const;
    return {
      samples,
      tables: [stepsTable(STEPS, SIDES, samples, ratios)],
      goals: [
        atLeast('speed of the transport beside the address', speed('transport', 'address'), 0.98, '', 3),
        atLeast('speed with metering beside without', speed('metered', 'transport'), 0.99, '', 3),
      ],
    };
  } finally {
    site.close();
    await emulator.stop();
  }
}

async function connect(side: string, cdpUrl: string): Promise<Browser> {
  if (side === 'address') return await chromium.connectOverCDP(cdpUrl);
  const metering = side === 'metered' ? { meter: new Meter() } : {};
  return await chromium.connectOverCDP(await openTransport(cdpUrl, metering));
}

/** One round of all steps, in ms. */
async function measure(side: string, cdpUrl: string, url: string): Promise<Figures> {
  const times: Figures = {};
  const timed = async <T>(step: number, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    times[STEPS[step] ?? ''] = performance.now() - start;
    return result;
  };
  const browser = await timed(0, () => connect(side, cdpUrl));
  const page = await timed(1, async () => await (await browser.newContext()).newPage());
  await timed(2, () => page.goto(url));
  await timed(3, () => page.click('button'));
  await timed(4, () => page.screenshot());
  await timed(5, async () => {
    for (let index = 0; index < EVALUATES; index += 1) await page.evaluate('6 * 7');
  });
  await browser.close();
  return { ...times, all: Object.values(times).reduce((sum, time) => sum + time, 0) };
}
