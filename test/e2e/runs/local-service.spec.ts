import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { localChromium } from '../../support/local-chromium.ts';

test("POOLWRIGHT_SERVICE=local › runs on Playwright's own browsers", { tag: '@versions' }, async ({
  newConsumer,
  service,
  site,
}) => {
  const launch = JSON.stringify({
    executablePath: await localChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(
      `{ pool: 'nowhere' }`,
      `projects: [{ name: 'a', use: { hosted: { session: { country: 'DE' } }, launchOptions: ${launch} } }],`,
    ),
    'tests/plain.spec.ts': suite(`test('plain', async ({ page, browser }) => {
      await page.goto('/');
      console.log('OPTIONS ' + test.info().project.use.launchOptions.executablePath);
      expect(process.env.POOLWRIGHT_BROKER).toBe(undefined);
    });`),
    'tests/ours.spec.ts': `import { expect, test } from 'poolwright';
      test('ours', async ({ page }) => { await page.goto('/'); });
      test('asks for the session', async ({ hostedSession }) => { expect(hostedSession).toBeTruthy(); });
      test.describe('skipped there', () => {
        test.skip(process.env.POOLWRIGHT_SERVICE === 'local', 'needs a hosted browser');
        test('skips', async ({ hostedSession }) => { expect(hostedSession).toBeTruthy(); });
      });`,
  });
  const env = { ...service.env, SITE_URL: site.url, POOLWRIGHT_SERVICE: 'local' };
  const run = await runPlaywright(consumer, ['--workers=1'], env);
  const tests = await reportedTests(consumer);
  expect(Object.fromEntries(tests.map(({ title, results }) => [title, results[0]?.status]))).toEqual({
    plain: 'passed',
    ours: 'passed',
    'asks for the session': 'failed',
    skips: 'skipped',
  });
  for (const { results } of tests) expect(hostedAttachments(results[0])).toEqual([]);
  expect(tests.flatMap(({ annotations }) => annotations.map(({ type }) => type))).toEqual(['skip']);
  expect(run.output).toContain('`hostedSession` needs a hosted browser');
  expect(run.output).not.toContain('poolwright: ');
  expect(existsSync(join(consumer.directory, 'test-results/poolwright'))).toBe(false);
  expect(await service.allSessions()).toBe(0);
});

test.describe('a screenshot', () => {
  test.use({ browsers: 'shell' });

  test('matches the baseline that a local browser made', { tag: '@slow' }, async ({ newConsumer, service, site }) => {
    const launch = JSON.stringify({ executablePath: await localChromium() });
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig('{}', `use: { baseURL: process.env.SITE_URL, launchOptions: ${launch} },`),
      'tests/look.spec.ts': suite(`test('look', async ({ page }) => {
        await page.goto('/');
        await page.setContent('<style>@media (hover: hover) { p { color: red } }</style><p>a</p><div style="height:2000px">');
        await expect(page).toHaveScreenshot('window.png', { maxDiffPixels: 0 });
        await expect(page).toHaveScreenshot('page.png', { fullPage: true, maxDiffPixels: 0 });
      });`),
    });
    const env = { ...service.env, SITE_URL: site.url };
    const made = await runPlaywright(consumer, ['--update-snapshots'], { ...env, POOLWRIGHT_SERVICE: 'local' });
    expect(made.output).toContain('1 passed');
    const compared = await runPlaywright(consumer, [], env);
    expect(compared.output).toContain('1 passed');
    expect(await service.allSessions()).toBe(1);
  });
});
