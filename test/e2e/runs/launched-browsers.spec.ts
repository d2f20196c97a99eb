import { expect, test } from '../../support/e2e/fixtures.ts';
import { reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { suiteFiles } from '../../support/e2e/suite-run.ts';
import { send } from '../../support/processes.ts';

/** Browsers that tests and fixtures launch themselves, without a change to their code. */

test.use({ browsers: 'shell' });

/** Opens the site, which is on this machine. */
const OPEN = `const open = async (page) => { await page.goto(process.env.SITE_URL); return await page.title(); };`;

const LAUNCHES = `import { chromium, expect, test as base } from '@playwright/test';
  ${OPEN}
  const test = base.extend({
    launched: [async ({ playwright }, use) => {
      const browser = await playwright.chromium.launch();
      await use(browser);
      await browser.close();
    }, { scope: 'worker' }],
  });
  test('in a fixture', async ({ launched }) => {
    await open(await launched.newPage());
  });
  test('in a test, beside page', async ({ page }) => {
    const browser = await chromium.launch({ headless: false, env: {} });
    expect(await open(await browser.newPage())).toBe(await open(page));
    await browser.close();
  });
  test('with a profile', async ({}, testInfo) => {
    const context = await chromium.launchPersistentContext(testInfo.outputPath('profile'), { locale: 'de-DE' });
    const [page] = context.pages();
    await open(page);
    expect(await page.evaluate(() => navigator.language)).toBe('de-DE');
    await context.close();
  });
  test('two, which stay open', async () => {
    const browsers = await Promise.all([chromium.launch(), chromium.launch()]);
    for (const each of browsers) await open(await each.newPage());
  });
  test('a server', async () => {
    const server = await chromium.launchServer();
    const browser = await chromium.connect(server.wsEndpoint());
    await open(await browser.newPage());
    await server.close();
  });`;

for (const version of ['latest', 'oldest'] as const) {
  test(`launch(), launchPersistentContext() and launchServer() › get hosted browsers: Playwright ${version}`, async ({
    newConsumer,
    service,
    site,
  }) => {
    const consumer = await newConsumer(version);
    await consumer.write(suiteFiles({ config: 'workers: 1,', tests: LAUNCHES }));
    const { output } = await runPlaywright(consumer, [], { ...service.env, SITE_URL: site.url });
    expect(output).toContain('5 passed');
    expect(output).not.toContain('of this machine');
    const { sessions } = await recordOf(consumer);
    const used = sessions.flatMap(({ tests }) => tests.map(({ title }) => title));
    expect(used.sort()).toEqual([
      ...['a server', 'in a fixture'],
      ...['in a test, beside page', 'in a test, beside page'],
      ...['two, which stay open', 'two, which stay open'],
      'with a profile',
    ]);
    for (const { endReason, tests } of sessions) {
      expect(endReason).toBe('finished');
      expect(tests[0]?.proxiedBytes).toBeGreaterThan(0);
    }
    for (const { annotations } of await reportedTests(consumer))
      expect(annotations.filter(({ type }) => type === 'local-browser')).toEqual([]);
    expect(await service.running()).toEqual([]);
  });
}

test('the test of poolwright › has them without the config wrapper', async ({ runSuite, service }) => {
  const run = await runSuite({
    tests: `import { test } from 'poolwright';
      import { chromium } from '@playwright/test';
      test('launches', async () => {
        const browser = await chromium.launch();
        await (await browser.newPage()).goto('about:blank');
        await browser.close();
      });`,
    files: { 'playwright.config.ts': `export default { testDir: './tests' };` },
  });
  expect(run.output).not.toContain('of this machine');
  expect(await service.allSessions()).toBe(1);
  expect(await service.running()).toEqual([]);
});

test('a worker that is killed › leaves no browser', async ({ startSuite, service }) => {
  const run = await startSuite({
    config: 'workers: 1,',
    tests: `import { chromium, test } from '@playwright/test';
      test('stays', async () => {
        test.setTimeout(0);
        for (let n = 0; n < 2; n++) await (await chromium.launch()).newPage();
        console.log('WORKER ' + process.pid);
        await new Promise(() => undefined);
      });`,
  });
  await run.printed(/WORKER \d+/);
  const pid = Number(/WORKER (\d+)/.exec(run.output())?.[1]);
  expect((await service.running()).length).toBeGreaterThan(1);
  send(pid, 'SIGKILL');
  await expect.poll(service.running).toEqual([]);
  expect((await run.exit).code).toBe(1);
});

test.describe('at a plan of one browser', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 1 } });

  test('a launch › gets the idle one of its worker, and fails before its test times out if that is in use', async ({
    runSuite,
    service,
  }) => {
    const run = await runSuite({
      config: 'workers: 1, timeout: 20_000,',
      tests: `import { chromium, expect, test } from '@playwright/test';
        test('uses the page', async ({ page }) => { await page.goto('about:blank'); });
        test('launches', async () => {
          const browser = await chromium.launch();
          await browser.newPage();
          await browser.close();
        });
        test('does both', async ({ page }) => {
          const error = await chromium.launch().catch((error) => error);
          expect(String(error)).toContain('needs one besides that of');
          expect(error.code).toBe('ACQUIRE_TIMEOUT');
        });`,
    });
    expect(run.output).toContain('3 passed');
    expect(await service.running()).toEqual([]);
  });
});
