import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';
import { ASSET_BYTES } from '../../support/e2e/site.ts';
import { wrappedConfig } from '../../support/e2e/suites.ts';

/** Our transport's connection, given to Playwright directly (≥ 1.61) or through a tunnel (before). */

const FAILS = `
  test('fails on a page', async ({ page }) => { await page.goto('/'); expect(1).toBe(2); });
  test('fails on two pages', async ({ page, context }) => { await page.goto('/'); await context.newPage(); expect(1).toBe(2); });`;

test('link › takes screenshots of failing tests, counts bytes, and uploads by path', {
  tag: ['@versions', '@slow'],
}, async ({ runSuite }) => {
  const run = await runSuite({
    tests: {
      a: FAILS,
      b: `
      test('one context', async ({ page }) => { await page.goto('/'); });
      test('three contexts', async ({ page, browser }) => {
        await page.goto('/');
        const [second, third] = [await browser.newContext(), await browser.newContext()];
        await Promise.all([second, third].map(async (context) => (await context.newPage()).goto(process.env.SITE_URL!)));
        await second.close();
        await third.close();
      });
      test('uploads', async ({ page }) => {
        await page.goto('/');
        await page.setContent('<input type=file>');
        await page.setInputFiles('input', __dirname + '/upload.txt');
        expect(await page.evaluate('document.querySelector("input").files[0].text()')).toBe('from this machine');
      });`,
    },
    files: {
      'playwright.config.ts': wrappedConfig("{ exposeNetwork: '' }").replace(
        'use: {',
        `use: { screenshot: 'only-on-failure',`,
      ),
      'tests/upload.txt': 'from this machine',
    },
    args: ['--workers=1'],
    code: 1,
  });
  const tests = await run.tests();
  expect(tests.map(({ results }) => results[0]?.status)).toEqual(['failed', 'failed', 'passed', 'passed', 'passed']);
  const screenshots = tests.map(
    ({ results }) => results[0]?.attachments.filter(({ name }) => name === 'screenshot').length,
  );
  // No screenshot of the remote browser's own first page.
  expect(screenshots).toEqual([1, 2, 0, 0, 0]);
  // The check of Playwright's features is not a step of the test.
  expect(JSON.stringify(tests)).not.toContain('wsEndpoint');
  const loads = tests.map(({ results }) => Number(hostedAttachments(results[0])[0]?.observedBytes) / ASSET_BYTES);
  expect(loads.map((load) => Math.round(load * 20) / 20)).toEqual([1, 1, 1, 3, 1]);
});
