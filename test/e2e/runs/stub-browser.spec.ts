import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Checks that suites which need no Chromium (chaos, simulation) can rely on the emulator's stub browsers. */

const test = base.extend({
  service: async ({}, use) => {
    const service = await startService({ browser: 'stub' });
    await use(service);
    await service.stop();
  },
});

const SUITE = suite(`
test('passes', async ({ page }) => {
  await page.setContent('<title>on a stub</title>');
  expect(await page.title()).toBe('on a stub');
  expect(await page.evaluate(() => [1, 2, 3].map((n) => n * 2))).toEqual([2, 4, 6]);
});
test('fails', async ({ page }) => {
  await page.goto('data:text/html,<title>x</title>');
  expect(1).toBe(2);
});
test('passes after it', async ({ page, context }) => {
  await page.goto('about:blank');
  expect(context.pages()).toEqual([page]);
});
`);

test('passes and fails the right tests of a suite on stubs', { tag: '@versions' }, async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  const extra = `workers: 1, timeout: 10_000, use: { trace: 'on' },`;
  await consumer.write({ 'playwright.config.ts': wrappedConfig('{}', extra), 'tests/a.spec.ts': SUITE });
  const run = await runPlaywright(consumer, [], service.env);
  expect(run.code, run.output).toBe(1);
  const tests = await reportedTests(consumer);
  expect(
    tests.map(({ title, results }) => [title, results[0]?.status]),
    run.output,
  ).toEqual([
    ['passes', 'passed'],
    ['fails', 'failed'],
    ['passes after it', 'passed'],
  ]);
  expect(tests[1]?.results[0]?.error?.message).toContain('toBe');
  for (const { results } of tests) {
    expect(hostedAttachments(results[0])).toMatchObject([{ infrastructureFailure: null }]);
  }
  expect(await service.running()).toEqual([]);
  expect(await service.allSessions()).toBe(1);
});
