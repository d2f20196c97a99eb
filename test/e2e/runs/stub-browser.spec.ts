import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';

/** Checks that suites which need no Chromium (chaos, simulation) can rely on the emulator's stub browsers. */

test.use({ browsers: 'stub' });

const SUITE = `
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
`;

test('stub browsers › pass and fail the right tests of a suite', { tag: '@versions' }, async ({
  runSuite,
  service,
}) => {
  const extra = `workers: 1, timeout: 10_000, use: { trace: 'on' },`;
  const run = await runSuite({ config: extra, tests: SUITE, code: 1 });
  const tests = await run.tests();
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
