import { chromium, type Page } from 'playwright-core';
import { openTransport } from '../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../src/options/network-rules.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Figures } from '../measuring/samples.ts';
import { quartileRatio } from '../measuring/statistics.ts';
import { atLeast, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startSite } from '../surroundings/site.ts';
import { stepsTable } from './steps-table.ts';

const ASSETS = 200;
const FETCHES = 200;
const MEGABYTES = 50;
/** What the bridge sends at once of an answer that does not cross the link in one message, in bytes. */
const PIECE_BYTES = 2 * 1024 * 1024;
const STEPS = {
  assets: `a document of ${ASSETS} scripts`,
  fetches: `${FETCHES} fetch() of 5 kB, one after another`,
  bytes: `${MEGABYTES} MB by fetch()`,
};
const SIDES = ['direct', 'bridge', 'link'];
const GOAL = 0.9;

/** What it costs that pages reach this machine over the link. */
export const bridgeSuite: Suite = {
  name: 'bridge',
  title: 'The bridge',
  about: `A page of a site on this machine, which the browser reaches by itself (\`direct\`) or over the bridge; ms. \`link\`: the same ${MEGABYTES} MB in base64 to the page's script, in pieces of ${PIECE_BYTES / 1024 ** 2} MB one after another, which is what the WebSocket carries. A ratio is of speed, at the lower quartiles: 1 is equal, less is slower.`,
  rounds: 12,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const site = await startSite();
  try {
    const { cdpUrl } = await emulator.client.createSession();
    if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
    const samples = await interleave(SIDES, order, (side) => measure(side, cdpUrl, site.url));
    const { bytes } = STEPS;
    const ratio = quartileRatio(samples.values('link', bytes), samples.values('bridge', bytes));
    const ratios = [
      ['bridge', 'direct'],
      ['bridge', 'link'],
    ] as const;
    return {
      samples,
      tables: [stepsTable(Object.values(STEPS), SIDES, samples, ratios)],
      goals: [atLeast('speed of bytes over the bridge beside the link', ratio, GOAL, '', 3)],
    };
  } finally {
    site.close();
    await emulator.stop();
  }
}

/** One round of all steps, in ms. */
async function measure(side: string, cdpUrl: string, site: string): Promise<Figures> {
  const bridge = side === 'bridge' ? parseNetworkRules(new URL(site).host) : undefined;
  const browser = await chromium.connectOverCDP(await openTransport(cdpUrl, bridge ? { proxiedHosts: bridge } : {}));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site);
  const times: Figures = {};
  const timed = async (step: string, work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    times[step] = performance.now() - start;
  };
  if (side === 'link') {
    await timed(STEPS.bytes, () => send(page, MEGABYTES * 1_000_000));
  } else {
    await timed(STEPS.assets, () => page.goto(`${site}/?assets=${ASSETS}`));
    await timed(STEPS.fetches, () => page.evaluate(FETCH_ALL, { address: '/0.js', times: FETCHES }));
    await timed(STEPS.bytes, async () => {
      const address = `/blob?bytes=${MEGABYTES * 1_000_000}`;
      const size = await page.evaluate(FETCH_ALL, { address, times: 1 });
      if (size !== MEGABYTES * 1_000_000) throw new Error(`${size} bytes came`);
    });
  }
  await browser.close();
  return times;
}

async function send(page: Page, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= PIECE_BYTES) {
    const text = Buffer.alloc(Math.min(left, PIECE_BYTES), 7).toString('base64');
    await page.evaluate(LENGTH, text);
  }
}

/** In the page. */
const LENGTH = (text: string) => text.length;
const FETCH_ALL = async ({ address, times }: { address: string; times: number }) => {
  let size = 0;
  for (let index = 0; index < times; index += 1) size = (await (await fetch(address)).arrayBuffer()).byteLength;
  return size;
};
