import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';

const KEEPS = `
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
test('third', async ({ page }) => { await page.goto('/'); });`;

const LOSES = `
import { ServiceClient } from 'poolwright/client';
test('loses its browser once', async ({ page }, testInfo) => {
  await page.goto('/');
  if (testInfo.retry > 0) return;
  const client = new ServiceClient({ baseURL: process.env.POOLWRIGHT_BASE_URL!, apiKey: process.env.POOLWRIGHT_API_KEY! });
  for await (const { sessionId } of client.iterateSessions({ status: 'active' })) await client.stopSession(sessionId);
  await page.goto('/');
});`;

test('reuseContext › records the context for every test with a page, and gets a new browser when its own is lost', {
  tag: '@versions',
}, async ({ runSuite, service }) => {
  const run = await runSuite({
    config: 'retries: 1,',
    tests: { keeps: KEEPS, loses: LOSES },
    args: ['--workers=1'],
    env: { PW_TEST_REUSE_CONTEXT: '1' },
  });
  const tests = await run.tests();
  const keeps = tests.filter(({ file }) => file.startsWith('keeps'));
  const all = keeps.map(({ results }) => hostedAttachments(results[0])[0]);
  expect(all.map((record) => record !== undefined)).toEqual([true, true, false, true]);
  const records = all.filter((record) => record !== undefined);
  expect(new Set(records.map((record) => record?.sessionId)).size).toBe(1);

  const loses = tests.filter(({ file }) => file.startsWith('loses'));
  const [lost, fresh] = loses.flatMap(({ results }) => results.flatMap(hostedAttachments));
  expect(lost?.infrastructureFailure).toContain(lost?.sessionId);
  expect(fresh?.infrastructureFailure).toBeNull();
  expect(fresh?.sessionId).not.toBe(lost?.sessionId);
  expect(await service.running()).toEqual([]);
});

test('component tests, which reuse their context, are recorded', { tag: '@slow' }, async ({ runSuite, service }) => {
  // What their `defineConfig` and `test` add; bench/results/compatibility.md has the packages themselves.
  const run = await runSuite({
    config: `'@playwright/experimental-ct-core': {},`,
    tests: {
      components: `
const ct = test.extend({ _optionContextReuseMode: 'when-possible', serviceWorkers: 'block' } as object);
for (const name of ['first', 'second']) ct(name, async ({ page }) => { await page.goto('/'); });`,
    },
    args: ['--workers=1'],
  });
  expect(run.output).toContain('2 passed');
  const { sessions } = await run.record();
  expect(sessions.map(({ testsServed }) => testsServed)).toEqual([2]);
  expect(await service.running()).toEqual([]);
});
