import { expect, test } from '../support/e2e/fixtures.ts';
import { startRelay } from '../support/e2e/relay.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../support/e2e/suites.ts';
import type { Flaw } from '../support/stub/flaws.ts';

/** A browser that answers, but is broken, costs at most one test, whose record names the cause. */

test.use({ browsers: 'stub' });

const TESTS = suite(
  [1, 2, 3, 4].map((n) => `test('${n}', async ({ page }) => { await page.goto('about:blank'); });`).join('\n'),
);

const CASES: { flaw: Flaw; fails: RegExp | null }[] = [
  { flaw: 'refuses contexts', fails: /is broken: it refused to open a context: "The browser is broken/ },
  { flaw: 'refuses pages', fails: /is broken: it refused to open a page: "The browser is broken/ },
  { flaw: 'sends a foreign target', fails: null },
];
for (const relayed of [false, true]) {
  for (const { flaw, fails } of CASES) {
    test.describe(`a browser that ${flaw}${relayed ? ', over a relay' : ''}`, () => {
      test.use({ serviceOptions: { flaw } });

      test(`costs ${fails ? 'one test' : 'no test'}`, async ({ newConsumer, service }) => {
        const relay = relayed ? await startRelay() : null;
        const consumer = await newConsumer();
        await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': TESTS });
        const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay?.env });
        await relay?.stop();
        expect(run.code, run.output).toBe(fails ? 1 : 0);
        const results = (await reportedTests(consumer)).map(({ results }) => results[0]);
        const statuses = results.map((result) => result?.status);
        expect(statuses).toEqual([fails ? 'failed' : 'passed', 'passed', 'passed', 'passed']);
        const [failure, ...others] = results.map((result) => hostedAttachments(result)[0]?.infrastructureFailure);
        if (fails) expect(failure).toMatch(fails);
        else expect(failure).toBe(null);
        expect(others).toEqual([null, null, null]);
        const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
        expect(sessions).toHaveLength(fails ? 2 : 1);
        expect(await service.running()).toEqual([]);
      });
    });
  }
}

test.describe('a browser on which Playwright itself throws', () => {
  test.use({ serviceOptions: { flaw: 'sends a foreign target' } });

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
