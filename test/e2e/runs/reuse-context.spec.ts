import { PLAYWRIGHTS, type PlaywrightVersion } from '../../support/e2e/consumer.ts';
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

for (const version of Object.keys(PLAYWRIGHTS) as PlaywrightVersion[]) {
  test(`a context that Playwright ${version} reuses is on record for every test with a page`, async ({
    newConsumer,
    service,
    site,
  }) => {
    const consumer = await newConsumer(version);
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
}

test('a reused context gets a fresh browser when its own is lost', async ({ newConsumer, service, site }) => {
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

test('where a reused context would lose a profile or an identity, the config is refused', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  for (const [hosted, says] of [
    [`{ context: 'persistent' }`, "would clear a persistent context's cookies"],
    [`{ session: { type: 'hosted_stealth' } }`, 'applies the emulation that a stealth browser is kept from'],
  ] as const) {
    await consumer.write({
      'playwright.config.ts': wrappedConfig(hosted),
      'tests/a.spec.ts': suite(`test('runs', async ({ page }) => { await page.goto('about:blank'); });`),
    });
    const run = await runPlaywright(consumer, [], { ...service.env, PW_TEST_REUSE_CONTEXT: '1' });
    expect(run.code, run.output).toBe(1);
    expect(run.output).toContain('`use.reuseContext` (or PW_TEST_REUSE_CONTEXT)');
    expect(run.output).toContain(says);
  }
  expect(await service.allSessions()).toBe(0);
});
