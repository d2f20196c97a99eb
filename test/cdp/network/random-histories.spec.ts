import type { Browser, BrowserContext, Page } from '@playwright/test';
import fc from 'fast-check';
import { histories, ProxyHistory, type Step } from '../../models/cdp/network/proxy-histories.ts';
import { test as autoTest } from '../../support/cdp/auto-fixtures.ts';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { test } from '../../support/cdp/proxy-fixtures.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** How many histories; each takes about a second. */
const RUNS = propertyRuns(20, 3);
/** Time limit for one step, in ms. */
const STEP_MS = 20_000;
/** Time limit for everything, in ms, including the search for a shorter failing history. */
const SEARCH_MS = 60_000 + 5_000 * RUNS.numRuns;

test('proxies listed pages and no others, for random pages, frames, workers and sessions', async ({
  far,
  dev,
  other,
}) => {
  await playAll((context, page) => new ProxyHistory(context, page, dev, other), far.browser(), [dev]);
});

autoTest(
  'proxies what the test visits for pages from there and no others, in random histories',
  async ({ newContext, own, foreign }) => {
    const ground = { auto: true, hostile: 'evil.example', foreign: 'other.example' };
    const browser = (await newContext()).browser();
    await playAll((context, page) => new ProxyHistory(context, page, own, foreign, ground), browser, [own]);
  },
);

async function playAll(
  begin: (context: BrowserContext, page: Page) => ProxyHistory,
  browser: Browser | null,
  servers: DevServer[],
): Promise<void> {
  test.setTimeout(2 * SEARCH_MS);
  const raised: unknown[] = [];
  const note = (error: unknown) => raised.push(error);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  try {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        for (const server of servers) {
          server.upgrades.length = 0;
          server.requests.length = 0;
        }
        const context = await browser?.newContext();
        if (!context) throw new Error('there is no browser');
        const history = begin(context, await context.newPage());
        try {
          for (const step of steps) await bounded(history.take(step), step);
        } finally {
          await bounded(context.close(), 'closing the context');
        }
        history.check();
        if (raised.length > 0) throw new Error(`raised in the worker: ${raised.splice(0).map(String)}`);
      }),
      { ...RUNS, interruptAfterTimeLimit: SEARCH_MS },
    );
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note);
  }
}

async function bounded(work: Promise<unknown>, step: Step | string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hung for ${STEP_MS / 1000} s: ${JSON.stringify(step)}`)), STEP_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
