import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, BrowserType, Page } from 'playwright-core';
import { install } from '../../scripts/installed.mjs';
import { Savings } from '../../src/cdp/latency/savings.ts';
import { openTransport } from '../../src/cdp/pipeline.ts';
import { supportsTransport } from '../../src/cdp/transport/supports-transport.ts';
import { openTunnel } from '../../src/cdp/transport/tunnel.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Figures, Samples } from '../measuring/samples.ts';
import { median } from '../measuring/statistics.ts';
import { decimals } from '../report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startSite } from '../surroundings/site.ts';

const ROUND_TRIP_MS = 100;
const LATEST = 'latest';
const SIDES = ['1.48', '1.56', LATEST].flatMap((version) => [`${version} plain`, `${version} ahead`]);
/** The first ones teach what will be asked for; the last one counts. */
const TESTS = 3;
const FORM = '<input id="name"><input type="checkbox"><select><option>one<option>two</select><button>Send</button>';

const ACTIONS: Record<string, (page: Page) => Promise<unknown>> = {
  textContent: (page) => page.locator('button').textContent(),
  click: (page) => page.locator('button').click(),
  fill: (page) => page.locator('#name').fill('text'),
  check: (page) => page.locator('[type=checkbox]').check(),
  hover: (page) => page.locator('button').hover(),
  press: (page) => page.locator('#name').press('End'),
  selectOption: (page) => page.locator('select').selectOption('two'),
};

/** What each step costs, in round trips. */
export const distanceSuite: Suite = {
  name: 'distance',
  title: 'Distance',
  about: `What each step costs over a link of ${ROUND_TRIP_MS} ms, in round trips: medians, plain and with what Playwright will ask for sent ahead. The sides differ in nothing else.`,
  rounds: 5,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator(0, ROUND_TRIP_MS);
  const site = await startSite();
  try {
    const { cdpUrl } = await emulator.client.createSession();
    if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
    const samples = await interleave(SIDES, order, (side) => measure(side, cdpUrl, site.url));
    const ahead = (step: string) => median(samples.values(`${LATEST} ahead`, step));
    return {
      samples,
      tables: [tableOf(samples)],
      goals: [
        atMost('fixed cost of a test', ahead('fixed cost of a test'), 1.5),
        atMost('textContent', ahead('textContent'), 1.2),
        atMost('click', ahead('click'), 6),
        atMost('fill', ahead('fill'), 3.3),
      ],
    };
  } finally {
    site.close();
    await emulator.stop();
  }
}

function tableOf(samples: Samples) {
  const steps = ['connect', 'newContext', 'newPage', 'goto', 'first action', ...Object.keys(ACTIONS), 'context.close'];
  return {
    head: ['step', ...SIDES],
    rows: [...steps, 'fixed cost of a test'].map((step) => [
      step,
      ...SIDES.map((side) => decimals(median(samples.values(side, step)), 1)),
    ]),
  };
}

/** One connection and some tests, in round trips. */
async function measure(side: string, cdpUrl: string, url: string): Promise<Figures> {
  const times: Figures = {};
  const timed = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    times[step] = (performance.now() - start) / ROUND_TRIP_MS;
    return result;
  };
  const [version = LATEST] = side.split(' ');
  const { chromium } = playwrightOf(version);
  const browser = await timed('connect', () => connect(chromium, cdpUrl, side.endsWith('ahead')));
  for (let test = 0; test < TESTS; test += 1) {
    const context = await timed<BrowserContext>('newContext', () => browser.newContext());
    const page = await timed<Page>('newPage', () => context.newPage());
    await timed('goto', () => page.goto(url));
    await timed('first action', () => page.locator('h1').textContent());
    await page.setContent(FORM);
    for (const [step, act] of Object.entries(ACTIONS)) await timed(step, () => act(page));
    await timed('context.close', () => context.close());
  }
  await browser.close();
  const { newContext = 0, newPage = 0, 'context.close': close = 0 } = times;
  return { ...times, 'fixed cost of a test': newContext + newPage + close };
}

async function connect(chromium: BrowserType, cdpUrl: string, isAhead: boolean): Promise<Browser> {
  const ahead = isAhead ? { ahead: true, sharesBrowser: true, savings: new Savings() } : {};
  const transport = await openTransport(cdpUrl, ahead);
  if (!(await supportsTransport(chromium))) return await chromium.connectOverCDP(await openTunnel(transport));
  return await chromium.connectOverCDP(transport);
}

function playwrightOf(version: string): typeof import('playwright-core') {
  return createRequire(join(process.cwd(), folderOf(version), 'package.json'))('playwright-core');
}

/** The folder that has a version of Playwright; what is not there yet is installed for the bench. */
function folderOf(version: string): string {
  if (version === LATEST) return '.';
  if (version === '1.48') return join('test', 'e2e', 'playwright-1.48');
  return dirname(dirname(install(`playwright-core-${version}`, `playwright-core@${version}`, 'playwright-core')));
}
