import { chromium } from '@playwright/test';
import fc from 'fast-check';
import { InitiatorHistory, numberOf } from '../../models/cdp/network/initiator-histories.ts';
import { initiatorHistories } from '../../models/cdp/network/initiator-steps.ts';
import { test } from '../../support/cdp/auto-fixtures.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { propertyRuns, slowIf } from '../../support/property-runs.ts';

/** How many histories in each browser; each takes about two seconds. */
const RUNS = propertyRuns(20, 3);
/** Time limit for everything, in ms, including the search for a shorter failing history. */
const SEARCH_MS = 60_000 + 8_000 * RUNS.numRuns;

for (const [which, flags] of [
  ['in one process', ['--disable-site-isolation-trials']],
  ['each in a separate process', ['--site-per-process']],
] as const) {
  test(
    `proxies a request when the test or a page of its server has caused it, never a foreign page: sites ${which}`,
    slowIf(which === 'in one process'),
    async ({ own, second, foreign, open }) => {
      test.setTimeout(2 * SEARCH_MS);
      const far = await startFarChromium(['localhost', '127.0.0.1', '*.localhost'], ['*.example'], [...flags]);
      const denied = new Set<number>();
      const note = (url: string) => denied.add(numberOf(url) ?? -1);
      try {
        const transport = await open(far.cdpUrl, { auto: { onVisit: () => undefined, onDenied: note } });
        const browser = await chromium.connectOverCDP(transport);
        await fc.assert(
          fc.asyncProperty(initiatorHistories, async ({ steps, ...ground }) => {
            for (const { requests } of [own, second]) requests.length = 0;
            denied.clear();
            const context = await browser.newContext();
            try {
              const history = new InitiatorHistory(context, [own, second, foreign], ground);
              await history.begin();
              for (const step of steps) await history.take(step);
              await history.check(denied);
            } finally {
              await context.close();
            }
          }),
          { ...RUNS, interruptAfterTimeLimit: SEARCH_MS },
        );
        await browser.close();
      } finally {
        await far.close();
      }
    },
  );
}
