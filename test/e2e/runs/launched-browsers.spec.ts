import { expect, test } from '../../support/e2e/fixtures.ts';
import { reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { suiteFiles } from '../../support/e2e/suite-run.ts';
import { send } from '../../support/processes.ts';
import { slowIf } from '../../support/property-runs.ts';

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
  test(
    `launch(), launchPersistentContext() and launchServer() › get hosted browsers: Playwright ${version}`,
    slowIf(version === 'oldest'),
    async ({ newConsumer, service, site }) => {
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
      for (const { endConfirmed, tests } of sessions) {
        expect(endConfirmed).toBe(true);
        expect(tests[0]?.proxiedBytes).toBeGreaterThan(0);
      }
      for (const { annotations } of await reportedTests(consumer))
        expect(annotations.filter(({ type }) => type === 'local-browser')).toEqual([]);
      expect(await service.running()).toEqual([]);
    },
  );
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

test('a launch › stays on this machine where the project or its own options say that', async ({ runSuite }) => {
  const run = await runSuite({
    code: 1,
    config: "workers: 1, projects: [{ name: 'hosted' }, { name: 'local', use: { hosted: false } }],",
    tests: `import { chromium, test } from '@playwright/test';
      const launch = async (options) => await (await chromium.launch(options)).close();
      test('plain', async () => { await launch(); });
      test('channel', async () => { await launch({ channel: 'chromium' }); });
      test('proxy', async () => { await launch({ proxy: { server: 'http://127.0.0.1:1' } }); });
      test('extension', async () => { await launch({ args: ['--load-extension=/nowhere'] }); });`,
    // Playwright has no browsers here.
    env: { PLAYWRIGHT_BROWSERS_PATH: '/nowhere' },
  });
  const tests = await run.tests();
  const isMissing = (error = '') => error.includes("Executable doesn't exist");
  const local = tests.filter(({ results }) => isMissing(results[0]?.error?.message));
  expect(local.map(({ project, title }) => `${project} ${title}`).sort()).toEqual([
    ...['hosted channel', 'hosted extension', 'hosted proxy'],
    ...['local channel', 'local extension', 'local plain', 'local proxy'],
  ]);
  expect(tests.filter(({ results }) => results[0]?.status === 'passed')).toMatchObject([{ title: 'plain' }]);
  const noted = tests.flatMap(({ title, annotations }) => annotations.map(({ type }) => `${title} ${type}`));
  expect(noted).toEqual(['channel local-browser', 'proxy local-browser', 'extension local-browser']);
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

  test('a launch › gets the idle one of its worker, and fails in time if that is in use', async ({
    runSuite,
    service,
  }) => {
    const run = await runSuite({
      options: '{ acquireTimeout: 20_000 }',
      config: 'workers: 1, timeout: 60_000,',
      tests: `import { chromium, expect, test } from '@playwright/test';
        const launch = async () => await (await chromium.launch()).close();
        test('the first', launch);
        test('the page', async ({ page }) => { await page.goto('about:blank'); });
        test('after the page', launch);
        test('beside the page', async ({ page }) => {
          await expect(launch()).rejects.toMatchObject({
            code: 'ACQUIRE_TIMEOUT',
            message: expect.stringContaining('No browser within 20 s'),
          });
        });
        test('with little time', async ({ page }) => {
          test.setTimeout(6_000);
          await expect(launch()).rejects.toMatchObject({
            code: 'ACQUIRE_TIMEOUT',
            message: expect.stringContaining('before the end of the test'),
          });
        });`,
    });
    expect(run.output).toContain('5 passed');
    expect(await service.running()).toEqual([]);
  });
});

test.describe('at a plan of two browsers', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 2 } });

  test('two launches at once › get the free one and the idle one of their worker', async ({ runSuite, service }) => {
    const run = await runSuite({
      config: 'workers: 1, timeout: 60_000,',
      tests: `import { chromium, test } from '@playwright/test';
        test('the page', async ({ page }) => { await page.goto('about:blank'); });
        test('two at once', async () => {
          const browsers = await Promise.all([chromium.launch(), chromium.launch()]);
          for (const browser of browsers) await browser.close();
        });`,
    });
    expect(run.output).toContain('2 passed');
    expect(await service.running()).toEqual([]);
  });
});
