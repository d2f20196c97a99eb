import { expect, test } from '../../support/e2e/fixtures.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

test.use({ browsers: 'stub' });

const SUITE = suite(`
test('passes', async ({ page }) => { await page.goto('about:blank'); });
test('fails', async ({ page }) => { await page.goto('about:blank'); expect(1).toBe(2); });`);

test(
  'UI mode › runs tests on hosted browsers repeatedly',
  { tag: '@versions' },
  async ({ newConsumer, service, page }, testInfo) => {
    test.slow();
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': SUITE });
    const run = startPlaywright(consumer, ['--ui-host=127.0.0.1', '--ui-port=0'], service.env);
    try {
      await run.printed(/http:\/\/\S+/);
      await page.goto(/http:\/\/\S+/.exec(run.output())?.[0] ?? '');
      for (const round of [1, 2]) {
        await page.getByTitle(/^Run all/).click();
        await expect.poll(() => service.allSessions(), `round ${round}`).toBe(round);
        await expect(page.getByTestId('status-line')).toContainText(/1\/2 passed|2\/2 .*1 passed/);
        // Between two runs no browser costs anything.
        await expect.poll(() => service.running()).toEqual([]);
      }
      await page.getByText('passes', { exact: true }).click();
      await page
        .getByText(/^Annotations/)
        .or(page.getByText(/^Attachments/))
        .first()
        .click();
      await page.screenshot({ path: testInfo.outputPath('ui-mode.png') });
    } finally {
      process.kill(-(run.child.pid ?? 0), 'SIGINT');
      await run.exit;
    }
    expect(await service.running()).toEqual([]);
  },
);
