import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BrowserType as PlaywrightBrowserType } from '@playwright/test';
import type { Browser, BrowserContext, BrowserType, Page } from 'playwright-core';
import { install } from '../../scripts/installed.mjs';
import { Savings } from '../../src/cdp/figures.ts';
import { openTransport } from '../../src/cdp/pipeline.ts';
import { openTunnel } from '../../src/cdp/transport/local-endpoint.ts';
import { connectPlaywright, supportsTransport } from '../../src/clients/playwright/connection.ts';
import { RELAY_SECRET } from '../../src/relay/relay-token.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Figures, Samples } from '../measuring/samples.ts';
import { median } from '../measuring/statistics.ts';
import { decimals } from '../report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { type EmulatorProcess, startEmulator } from '../surroundings/emulator.ts';
import { type DistantRelay, installedPlaywright, startDistantRelay } from '../surroundings/relay.ts';
import { startSite } from '../surroundings/site.ts';

const ROUND_TRIP_MS = 100;
const LATEST = 'latest';
const VERSIONS = ['1.48', '1.56', LATEST];
const SIDES = VERSIONS.flatMap((version) => [`${version} plain`, `${version} ahead`, `${version} relay`]);
const LEASE = {
  sessionId: 'measured',
  leaseId: null,
  poolId: null,
  servedBy: null,
  type: 'hosted',
  hasOwnState: false,
  runsAlready: false,
  startedAt: '',
  lifetimeMs: 3_600_000,
  expiresAt: '',
  reused: false,
} as const;
const SETTINGS = {
  reuse: 'run',
  metering: true,
  ahead: true,
  exposeNetwork: 'none',
  context: 'isolated',
  identity: undefined,
  onNote: () => undefined,
  onUnreachable: () => undefined,
  onSilent: () => undefined,
} as const;
/** The first ones teach what will be asked for; the last one counts. */
const TESTS = 3;
const FORM = '<input id="name"><input type="checkbox"><select><option>one<option>two</select><button>Send</button>';

const ACTIONS: Record<string, (page: Page) => Promise<unknown>> = {
  evaluate: (page) => page.evaluate('document.title'),
  textContent: (page) => page.locator('button').textContent(),
  click: (page) => page.locator('button').click(),
  fill: (page) => page.locator('#name').fill('text'),
  check: (page) => page.locator('[type=checkbox]').check(),
  hover: (page) => page.locator('button').hover(),
  press: (page) => page.locator('#name').press('End'),
  selectOption: (page) => page.locator('select').selectOption('two'),
};

const GOALS: Record<string, Record<string, number>> = {
  [`${LATEST} ahead`]: { 'fixed cost of a test': 1.5, textContent: 1.2, click: 6, fill: 3.3 },
  [`${LATEST} relay`]: { 'fixed cost of a test': 1.5, click: 1.6, fill: 1.4, evaluate: 1.2 },
};

/** What each step costs, in round trips. */
export const distanceSuite: Suite = {
  name: 'distance',
  title: 'Distance',
  about: `What each step costs over a link of ${ROUND_TRIP_MS} ms, in round trips: medians, plain, with what Playwright will ask for sent ahead, and through a relay at the browser. The sides differ in nothing else.`,
  rounds: 5,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator(0, ROUND_TRIP_MS);
  const near = await startEmulator();
  const relay = await startDistantRelay(
    new Map(VERSIONS.map((version) => installedPlaywright(directoryOf(version)))),
    ROUND_TRIP_MS,
  );
  const site = await startSite();
  try {
    const [cdpUrl, nearUrl] = await Promise.all([emulator, near].map(addressOf));
    const sides = order.sides ? SIDES.filter((side) => order.sides?.some((name) => side.endsWith(name))) : SIDES;
    const samples = await interleave(sides, order, (side) =>
      measure(side, site.url, (chromium) =>
        side.endsWith('relay')
          ? connectThrough(relay, chromium, nearUrl ?? '')
          : connect(chromium, cdpUrl ?? '', side.endsWith('ahead')),
      ),
    );
    const goalsOf = (side: string) =>
      Object.entries(GOALS[side] ?? {}).map(([step, limit]) =>
        atMost(`${side}: ${step}`, median(samples.values(side, step)), limit),
      );
    return { samples, tables: [tableOf(sides, samples)], goals: sides.flatMap(goalsOf) };
  } finally {
    site.close();
    await relay.stop();
    await near.stop();
    await emulator.stop();
  }
}

function tableOf(sides: string[], samples: Samples) {
  const steps = ['connect', 'newContext', 'newPage', 'goto', 'first action', ...Object.keys(ACTIONS), 'context.close'];
  return {
    head: ['step', ...sides],
    rows: [...steps, 'fixed cost of a test'].map((step) => [
      step,
      ...sides.map((side) => decimals(median(samples.values(side, step)), 1)),
    ]),
  };
}

/** One connection and some tests, in round trips. */
async function measure(side: string, url: string, open: (chromium: BrowserType) => Promise<Browser>): Promise<Figures> {
  const times: Figures = {};
  const timed = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    times[step] = (performance.now() - start) / ROUND_TRIP_MS;
    return result;
  };
  const [version = LATEST] = side.split(' ');
  const { chromium } = playwrightOf(version);
  const browser = await timed('connect', () => open(chromium));
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

async function addressOf({ client }: EmulatorProcess): Promise<string> {
  const { cdpUrl } = await client.createSession();
  if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
  return cdpUrl;
}

/** As a worker does. */
async function connectThrough(relay: DistantRelay, chromium: BrowserType, cdpUrl: string): Promise<Browser> {
  process.env[RELAY_SECRET] = relay.secret;
  const settings = { ...SETTINGS, way: { name: 'relay', address: relay.address } };
  const { browser } = await connectPlaywright(chromium as PlaywrightBrowserType, { ...LEASE, cdpUrl }, settings);
  return browser as Browser;
}

async function connect(chromium: BrowserType, cdpUrl: string, isAhead: boolean): Promise<Browser> {
  const ahead = isAhead ? { ahead: true, sharesBrowser: true, savings: new Savings() } : {};
  const transport = await openTransport(cdpUrl, ahead);
  if (!(await supportsTransport(chromium))) return await chromium.connectOverCDP(await openTunnel(transport));
  return await chromium.connectOverCDP(transport);
}

function playwrightOf(version: string): typeof import('playwright-core') {
  return createRequire(join(process.cwd(), directoryOf(version), 'package.json'))('playwright-core');
}

/** The directory that has a version of Playwright; what is not there yet is installed for the bench. */
function directoryOf(version: string): string {
  if (version === LATEST) return '.';
  if (version === '1.48') return join('test', 'e2e', 'playwright-1.48');
  return dirname(dirname(install(`playwright-core-${version}`, [`playwright-core@${version}`], 'playwright-core')));
}
