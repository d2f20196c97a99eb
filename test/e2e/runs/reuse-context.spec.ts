import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

const SUITE = suite(`
test('first', async ({ page, context }) => {
  await page.goto('/');
  await page.evaluate(() => localStorage.setItem('seen', 'yes'));
  await context.addCookies([{ name: 'seen', value: 'yes', url: page.url() }]);
});
test('second', async ({ page, context }) => {
  await page.goto('/');
  expect(await page.evaluate(() => localStorage.getItem('seen'))).toBeNull();
  expect((await context.cookies()).map(({ name }) => name)).not.toContain('seen');
});
test('uses no page', () => {});
test('third', async ({ page }) => { await page.goto('/'); });`);

test('records a context that Playwright reuses for every test with a page', { tag: '@versions' }, async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': SUITE });
  const env = { ...service.env, SITE_URL: site.url, PW_TEST_REUSE_CONTEXT: '1' };
  const run = await runPlaywright(consumer, ['--workers=1'], env);
  expect(run.code, run.output).toBe(0);
  const all = (await reportedTests(consumer)).map(({ results }) => hostedAttachments(results[0])[0]);
  expect(all.map((record) => record !== undefined)).toEqual([true, true, false, true]);
  const records = all.filter((record) => record !== undefined);
  expect(new Set(records.map((record) => record?.sessionId)).size).toBe(1);
  expect(await service.running()).toEqual([]);
});

test('gives a reused context a new browser when its own is lost', async ({ newConsumer, service, site }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{}', 'retries: 1,'),
    'tests/a.spec.ts': suite(`
      import { ServiceClient } from 'poolwright/client';
      test('loses its browser once', async ({ page }, testInfo) => {
        await page.goto('/');
        if (testInfo.retry > 0) return;
        const client = new ServiceClient({ baseURL: process.env.POOLWRIGHT_BASE_URL!, apiKey: process.env.POOLWRIGHT_API_KEY! });
        for await (const { sessionId } of client.iterateSessions({ status: 'active' })) await client.stopSession(sessionId);
        await page.goto('/');
      });`),
  });
  const env = { ...service.env, SITE_URL: site.url, PW_TEST_REUSE_CONTEXT: '1' };
  const run = await runPlaywright(consumer, ['--workers=1'], env);
  expect(run.code, run.output).toBe(0);
  const [lost, fresh] = (await reportedTests(consumer)).flatMap(({ results }) => results.flatMap(hostedAttachments));
  expect(lost?.infrastructureFailure).toContain(lost?.sessionId);
  expect(fresh?.infrastructureFailure).toBeNull();
  expect(fresh?.sessionId).not.toBe(lost?.sessionId);
});
