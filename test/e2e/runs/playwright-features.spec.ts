import { expect, test } from '../../support/e2e/fixtures.ts';

/** What Playwright 1.59 to 1.65 added, as far as it decides which tests run, when, and in which worker. */

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  const OPENS = `test('opens', async ({ page }) => { await page.goto('about:blank'); });`;

  test.describe('with a plan of one browser', () => {
    test.use({ serviceOptions: { concurrentBrowsers: 1 } });

    test('test locks › an idle worker gives its browser to the test that runs alone', { tag: '@slow' }, async ({
      runSuite,
    }) => {
      const alone = `test('alone', { lock: '-exclusive-' }, async ({ page }) => { await page.goto('about:blank'); });`;
      const run = await runSuite({ tests: { a: OPENS, b: alone, c: OPENS, d: alone }, args: ['--workers=2'] });
      const { sessions, failures } = await run.record();
      expect(failures).toEqual([]);
      expect(sessions.flatMap(({ tests }) => tests.map(({ status }) => status))).toEqual(Array(4).fill('passed'));
    });
  });

  test('retryStrategy: isolated › retries use a browser of the run, and are on record', { tag: '@slow' }, async ({
    runSuite,
  }) => {
    const fails = `test('fails once', async ({ page }, { retry }) => { await page.goto('about:blank'); expect(retry).toBe(1); });`;
    const run = await runSuite({
      tests: { a: fails, b: fails, c: OPENS },
      config: `retries: 1, retryStrategy: 'isolated',`,
      args: ['--workers=2'],
    });
    const { sessions } = await run.record();
    const tries = sessions.flatMap(({ tests }) => tests.map(({ title, retry, ok }) => `${title} ${retry} ${ok}`));
    expect(tries.sort()).toEqual([
      ...Array(2).fill('fails once 0 false'),
      ...Array(2).fill('fails once 1 true'),
      'opens 0 true',
    ]);
    expect(sessions.length).toBeLessThanOrEqual(2);
  });

  test('project.default: false › gets no browser unless it is named', { tag: '@slow' }, async ({
    runSuite,
    service,
  }) => {
    const pool = await service.client.createPool({ name: 'other', size: 1 });
    const suite = {
      tests: OPENS,
      config: `projects: [
        { name: 'local', use: { hosted: false }, testMatch: 'none.spec.ts' },
        { name: 'usual' },
        { name: 'slow', default: false, use: { hosted: { pool: 'other' } } },
      ],`,
    };
    const usual = await (await runSuite(suite)).record();
    expect(usual.sessions.map(({ project, source }) => ({ project, source }))).toEqual([
      { project: 'usual', source: 'session' },
    ]);
    const named = await (await runSuite({ ...suite, args: ['--project=slow'] })).record();
    expect(named.sessions).toMatchObject([{ project: 'slow', poolId: pool.id, testsServed: 1 }]);
  });

  test('a reporter that excludes tests › no browser is leased for them', async ({ runSuite, service }) => {
    const reporter = `export default class {
      async preprocess({ suite, testRun }) {
        for (const test of suite.allTests()) if (test.title === 'opens') testRun.exclude(test);
      }
      printsToStdio() { return false; }
    }`;
    const run = await runSuite({
      tests: { a: OPENS, b: OPENS, c: `test('stays', async ({ page }) => { await page.goto('about:blank'); });` },
      config: `reporter: [['list'], ['json'], ['./excludes.ts']],`,
      files: { 'excludes.ts': reporter },
      args: ['--workers=3'],
    });
    expect((await run.tests()).map(({ title }) => title)).toEqual(['stays']);
    expect(await service.allSessions()).toBe(1);
  });
});

test('--debug=cli › does not pause a test on a hosted browser, and the run prints that', { tag: '@slow' }, async ({
  runSuite,
}) => {
  const run = await runSuite({
    tests: `test('goes on', async ({ page }) => {
      await page.setContent('<button>go</button>');
      await page.getByRole('button').click();
    });`,
    args: ['--debug=cli'],
  });
  expect(run.output).toContain(
    "no effect on hosted browsers: --debug=cli. To use Playwright's own browsers, set POOLWRIGHT_SERVICE=local",
  );
});

test('virtual authenticators › are gone from a cleared persistent context', async ({ runSuite, site }) => {
  const host = new URL(site.url).hostname;
  await runSuite({
    options: `{ context: { mode: 'persistent', clear: true } }`,
    tests: `test.describe.configure({ mode: 'serial' });
    const isVirtual = (page) => page.evaluate(() => globalThis.__pwWebAuthnInstalled === true || !/native code/.test(String(navigator.credentials.get)));
    test('has one', async ({ page, context }) => {
      await context.credentials.install();
      await context.credentials.create('${host}');
      await page.goto('/');
      expect(await isVirtual(page)).toBe(true);
      expect(await context.credentials.get()).toHaveLength(1);
    });
    test('has none', async ({ page, context }) => {
      await page.goto('/');
      expect(await isVirtual(page)).toBe(false);
      expect(await context.credentials.get()).toEqual([]);
    });`,
  });
});
