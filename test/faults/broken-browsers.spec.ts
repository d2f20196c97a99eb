import { expect, test } from '../support/e2e/fixtures.ts';
import { startRelay } from '../support/e2e/relay.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../support/e2e/suites.ts';
import { slowIf } from '../support/property-runs.ts';
import type { Flaw } from '../support/stub/flaws.ts';

/** A browser that answers, but is broken, costs at most one test, whose record names the cause. */

test.use({ browsers: 'stub' });

const FIVE = [1, 2, 3, 4, 5]
  .map((n) => `test('${n}', async ({ page }) => { await page.goto('about:blank'); });`)
  .join('\n');
const FLAWS: Flaw[] = ['refuses contexts', 'refuses pages', 'sends a foreign target'];

test.describe('one that refuses contexts, or pages, costs one test; one with a foreign target costs none', () => {
  test.use({ serviceOptions: { flaws: FLAWS } });

  for (const relayed of [false, true]) {
    test(relayed ? 'over a relay' : 'from the service', slowIf(relayed), async ({ runSuite, service }) => {
      const relay = relayed ? await startRelay() : null;
      const run = await runSuite({ tests: FIVE, args: ['--workers=1'], env: relay?.env ?? {}, code: 1 });
      await relay?.stop();
      const results = (await run.tests()).map(({ results: [result] }) => result);
      expect(results.map((result) => result?.status)).toEqual(['failed', 'failed', 'passed', 'passed', 'passed']);
      const causes = results.map((result) => hostedAttachments(result)[0]?.infrastructureFailure);
      expect(causes).toEqual([
        expect.stringMatching(/is broken: it refused to open a context: "The browser is broken/),
        expect.stringMatching(/is broken: it refused to open a page: "The browser is broken/),
        ...[null, null, null],
      ]);
      expect((await run.record()).sessions).toHaveLength(3);
      expect(await service.running()).toEqual([]);
    });
  }
});

test.describe('a browser on which Playwright itself throws', () => {
  test.use({ serviceOptions: { flaws: ['sends a foreign target'] } });

  test('costs one test', async ({ newConsumer, service }) => {
    const { cdpUrl, sessionId } = await service.client.createSession();
    // Playwright of today tolerates such a target.
    const consumer = await newConsumer('oldest');
    await consumer.write({
      'playwright.config.ts': wrappedConfig(),
      'tests/a.spec.ts': suite(`
      const { chromium } = require('@playwright/test');
      test('1', async ({ page }) => { await chromium.connectOverCDP('${cdpUrl}'); await page.waitForTimeout(30_000); });
      test('2', async ({ page }) => { await page.goto('about:blank'); });`),
    });
    const run = await runPlaywright(consumer, ['--workers=1'], service.env);
    expect(run.code, run.output).toBe(1);
    const results = (await reportedTests(consumer)).map(({ results }) => results[0]);
    const failures = results.map((result) => hostedAttachments(result)[0]?.infrastructureFailure);
    expect(failures).toEqual([
      expect.stringMatching(/is broken: Playwright failed on what it sent: "targetInfo: {/),
      null,
    ]);
    await service.client.stopSession(sessionId);
  });
});

test.describe('what tests leave in a browser', () => {
  test.use({ browsers: 'shell' });

  test('is closed before the next worker gets it: contexts, pages and a dialog', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(),
      'tests/a.spec.ts': suite(`
        const listed = async (browser) => {
          const cdp = await browser.newBrowserCDPSession();
          const { targetInfos } = await cdp.send('Target.getTargets');
          const { browserContextIds } = await cdp.send('Target.getBrowserContexts');
          return { cdp, pages: targetInfos.filter(({ type }) => type === 'page').length, contexts: browserContextIds.length };
        };
        test('leaves', async ({ browser }) => {
          await (await browser.newContext()).newPage();
          const { cdp, pages } = await listed(browser);
          console.log('BEFORE', pages - 1);
          const { browserContextId } = await cdp.send('Target.createBrowserContext');
          await cdp.send('Target.createTarget', { url: 'about:blank', browserContextId });
          await cdp.send('Target.createTarget', { url: 'data:text/html,<script>alert(1)</script>' });
          throw new Error('fails');
        });
        test('finds', async ({ browser }) => {
          const { pages, contexts } = await listed(browser);
          console.log('AFTER', pages, contexts);
        });`),
    });
    const run = await runPlaywright(consumer, ['--workers=1'], service.env);
    const before = /BEFORE (\d+)/.exec(run.output)?.[1];
    expect(run.output).toContain(`AFTER ${before} 0`);
    expect(await service.allSessions()).toBe(1);
  });
});
