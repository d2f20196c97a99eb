import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Three tests, the second of which fails, so that Playwright replaces the worker. */
const SUITE = suite(`
  test('one', async ({ page }) => { await page.goto('/'); });
  test('two', async ({ page, browser }) => { await page.goto('/'); await (await browser.newContext()).close(); expect(1).toBe(2); });
  test('three', async ({ page }) => { await page.goto('/'); });`);

/** Which browser served each test, by number. */
const expected = { run: [1, 1, 1], worker: [1, 1, 2], test: [1, 2, 3] };

for (const [reuse, browsers] of Object.entries(expected)) {
  test(`reuse: '${reuse}'`, async ({ newConsumer, service, site }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(`{ reuse: '${reuse}' }`), 'tests/a.spec.ts': SUITE });
    const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(1);
    const tests = await reportedTests(consumer);
    expect(tests.map(({ results }) => results[0]?.status)).toEqual(['passed', 'failed', 'passed']);
    const sessions = tests.map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
    const distinct = [...new Set(sessions)];
    expect(sessions.map((session) => distinct.indexOf(session) + 1)).toEqual(browsers);
    expect(run.output).not.toContain('gives no fresh browser');
    expect(await service.running()).toEqual([]);
  });
}

test("reuse: 'test' and a context that a test has left open: the next test shares its browser, which is said once", async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(`{ reuse: 'test' }`),
    'tests/a.spec.ts': suite(`
      test('leaves one open', async ({ browser }) => { await (await browser.newContext()).newPage(); });
      test('shares', async ({ page }) => { await page.goto('/'); });
      test('shares too', async ({ page }) => { await page.goto('/'); });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const said = run.output.match(/^poolwright: `reuse: 'test'` gives no fresh browser to a test that begins while /gm);
  expect(said, run.output).toHaveLength(1);
  const sessions = (await reportedTests(consumer)).map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
  expect(new Set(sessions).size).toBe(1);
});

test("reuse: 'test' and contexts opened at once: one browser each test, and none left", async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(`{ reuse: 'test' }`),
    'tests/a.spec.ts': suite(`
      for (const n of [1, 2, 3, 4]) test('test ' + n, async ({ browser }) => {
        const contexts = await Promise.all([1, 2, 3].map(() => browser.newContext()));
        await Promise.all(contexts.map(async (context) => (await context.newPage()).goto('/')));
        for (const context of contexts) await context.close();
      });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  const served = sessions.map(({ tests }: { tests: unknown[] }) => tests.length);
  // The one fetched ahead of a fifth test that never came served none.
  expect(served.filter((tests: number) => tests > 0)).toEqual([1, 1, 1, 1]);
  expect(sessions.length).toBeLessThanOrEqual(5);
  // While the run went on none was forgotten: each ended when its test was over, not with the worker.
  expect(sessions.map(({ endReason }: { endReason: string }) => endReason)).not.toContain('worker-died');
  expect(await service.running()).toEqual([]);
});

test("reuse: 'test' and a `beforeAll` that uses a browser: letting go of that one is no loss", async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(`{ reuse: 'test' }`),
    'tests/a.spec.ts': suite(`
      test.beforeAll(async ({ browser }) => { await (await browser.newContext()).close(); });
      test('fails by itself', async ({ page }) => { await page.goto('/'); expect(1).toBe(2); });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(1);
  const [failed] = await reportedTests(consumer);
  expect(run.output).not.toContain('hosted browser was lost');
  expect(hostedAttachments(failed?.results[0])).toMatchObject([{ infrastructureFailure: null }]);
});

test("reuse: 'test' at the limit: what is fetched ahead waits for its turn, fails nothing, and is not made for nobody", async ({
  newConsumer,
  site,
}) => {
  const service = await startService({ concurrentBrowsers: 1 });
  try {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(`{ reuse: 'test', acquireTimeout: 5000 }`),
      'tests/a.spec.ts': suite(`
        for (const ms of [6000, 1, 0]) test('takes ' + ms, async ({ page }) => {
          await page.goto('/');
          await new Promise((resolve) => setTimeout(resolve, ms));
        });`),
    });
    const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);
    const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    expect(record.leaseFailures).toEqual([]);
    expect(record.sessions.map(({ tests }: { tests: unknown[] }) => tests.length)).toEqual([1, 1, 1]);
    expect(record.sessions.map(({ endReason }: { endReason: string }) => endReason)).not.toContain('worker-died');
    expect(await service.allSessions()).toBe(3);
    expect(await service.running()).toEqual([]);
  } finally {
    await service.stop();
  }
});
