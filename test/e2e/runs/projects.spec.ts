import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { localChromium } from '../../support/local-chromium.ts';

const LAUNCH = async () =>
  JSON.stringify({
    executablePath: await localChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });

test("projects › each has its options, also with equal names, and keeps the user's own", async ({
  runSuite,
  service,
}) => {
  const pool = await service.client.createPool({ name: 'named', size: 1 });
  const paused = await service.client.createPool({ name: 'paused', size: 1 });
  await service.client.updatePool(paused.id, { paused: true });
  const run = await runSuite({
    tests: {
      a: `test('a', async ({ page }) => {
      await page.goto('/');
      expect(process.env.FROM_ONE + process.env.FROM_TWO).toBe('onetwo');
      expect(await page.evaluate(() => matchMedia('(prefers-reduced-motion)').matches)).toBe(true);
    });`,
      plain: `test('plain', async ({ page }) => { await page.goto('/'); });`,
    },
    files: {
      'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      const noted = (note) => ({ name: 'twin', testMatch: 'plain.spec.ts', use: { hosted: { session: { note } } } });
      const config = withHostedBrowsers({
        testDir: './tests',
        testMatch: 'a.spec.ts',
        reporter: [['json'], ['./mine.ts']],
        globalSetup: ['./one.ts', './two.mjs'],
        use: { baseURL: process.env.SITE_URL, contextOptions: { reducedMotion: 'reduce' } },
        projects: [
          { name: 'pool' },
          { name: 'session', use: { headless: false, hosted: { session: { duration: 60 }, reuse: 'worker' } } },
          { name: 'local', use: { hosted: false, launchOptions: ${await LAUNCH()} } },
          noted('one'),
          noted('two'),
          { name: 'own', testMatch: 'own.spec.ts', use: { hosted: false } },
          { name: 'falls-back', use: { hosted: { pool: 'paused' } } },
          { name: 'fails', use: { hosted: { pool: 'paused', fallback: 'fail' } } },
        ],
      }, { pool: 'named' });
      export default defineConfig(withHostedBrowsers(config, { pool: 'named' }));`,
      'one.ts': `export default () => { process.env.FROM_ONE = 'one'; };`,
      'two.mjs': `export default () => { process.env.FROM_TWO = 'two'; };`,
      'mine.ts': `export default class { onTestEnd(test) { process.stderr.write('MINE ' + test.title + '\\n'); } printsToStdio() { return false; } }`,
      'tests/own.spec.ts': `import { test } from 'poolwright';
      test.use({ hosted: { session: { note: 'own' } } });
      test('plain', async ({ page }) => { await page.goto('/'); });`,
    },
    args: ['--workers=1'],
    code: 1,
  });
  expect(run.output.match(/hosted browsers have no window.*/g)).toEqual([
    "hosted browsers have no window (--headed): see them live with `npx poolwright watch`. For Playwright's own browsers, set POOLWRIGHT_SERVICE=local",
  ]);
  expect(run.output).not.toContain('no effect on hosted browsers');
  expect(run.output.match(/MINE a/g)).toHaveLength(5);
  expect(run.output).toContain('on local browsers: local');
  const tests = (await run.tests()).map(({ project, results: [result] }) => ({
    project,
    status: result?.status,
    message: result?.error?.message,
    attachments: hostedAttachments(result),
  }));
  const of = (name: string) => tests.find(({ project }) => project === name);
  expect(tests.filter(({ status }) => status !== 'passed').map(({ project }) => project)).toEqual(['fails']);
  expect(of('pool')?.attachments).toMatchObject([{ poolId: pool.id }]);
  expect(of('session')?.attachments).toMatchObject([{ poolId: null }]);
  expect(of('local')?.attachments).toEqual([]);
  expect(of('falls-back')?.attachments).toMatchObject([{ poolId: null }]);
  expect(of('fails')?.message).toContain('paused');

  const notes = [];
  for (const { project, attachments } of tests.filter((each) => /^(twin|own)$/.test(each.project))) {
    const { note } = await service.client.getSession(String(attachments[0]?.sessionId));
    const [own, named] = [note?.split(' shard=')[0]?.replace(/ run=\S+/, ''), /project=\S+/.exec(note ?? '')];
    notes.push(`${project}: ${own} ${named}`);
  }
  expect(notes).toEqual([
    'twin: one poolwright project=twin',
    'twin: two poolwright project=twin',
    'own: own poolwright project=own',
  ]);
  const { sessions } = await run.record();
  expect(sessions).toHaveLength(6); // no unused ones
  expect(await service.running()).toEqual([]);
});

test.describe(() => {
  test.use({ browsers: 'stub' });

  test('projects › a global setup that changes POOLWRIGHT_POOL too late is warned of', async ({
    runSuite,
    service,
  }) => {
    const [first] = await Promise.all(['first', 'second'].map((name) => service.client.createPool({ name, size: 1 })));
    const run = await runSuite({
      config: `globalSetup: './setup.ts',`,
      tests: `test('a', async ({ page }) => { await page.goto('about:blank'); });`,
      files: { 'setup.ts': `export default () => { process.env.POOLWRIGHT_POOL = 'second'; };` },
      env: { POOLWRIGHT_POOL: 'first' },
    });
    expect(run.output).toContain('the global setup changed POOLWRIGHT_POOL');
    const record = await run.record();
    expect(record.sessions).toMatchObject([{ poolId: first?.id, testsServed: 1 }]); // and no unused ones
  });

  test('projects › a pool made for the run has the size of its workers, and is deleted', async ({
    runSuite,
    service,
  }) => {
    const run = await runSuite({
      tests: `for (const name of ['a', 'b']) test(name, async ({ page }) => {
      await page.goto('about:blank');
      const answer = await fetch(process.env.POOLWRIGHT_BASE_URL + '/v1/browser/pools', {
        headers: { authorization: 'Bearer ' + process.env.POOLWRIGHT_API_KEY },
      });
      const { pools } = await answer.json();
      expect(pools.map(({ size, leaseTimeoutSeconds }) => ({ size, leaseTimeoutSeconds }))).toEqual([{ size: 2, leaseTimeoutSeconds: 60 }]);
    });`,
      files: {
        'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      export default defineConfig(withHostedBrowsers({ testDir: './tests', fullyParallel: true, reporter: 'json' },
        { pool: { create: { leaseTimeoutSeconds: 60 } }, fallback: 'fail' }));`,
      },
      args: ['--workers=2'],
    });
    for (const { results } of await run.tests())
      expect(hostedAttachments(results[0])).toMatchObject([{ poolId: expect.any(String) }]);
    expect(await service.client.listPools()).toEqual([]);
    expect(await service.running()).toEqual([]);
  });
});

test('projects › local ones alone need no key and no broker', { tag: '@versions' }, async ({ newConsumer }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(
      '{}',
      `projects: [{ name: 'hosted' }, { name: 'login' }, { name: 'webkit', use: { browserName: 'webkit' } }, { name: 'after', dependencies: ['login'], use: { hosted: false } }],`,
    ),
    'tests/a.spec.ts': suite(`test('says what it has', () => console.log('BROKER ' + process.env.POOLWRIGHT_BROKER));`),
  });
  const local = await runPlaywright(consumer, ['--project=webkit'], { CI: '1' });
  expect(local.code, local.output).toBe(0);
  expect(local.output).toContain('BROKER undefined');
  expect(local.output.match(/^poolwright: .*/gm)).toEqual(['poolwright: on local browsers: webkit']);
  const dependent = await runPlaywright(consumer, ['--project', 'after'], { CI: '1' });
  expect(dependent.code, dependent.output).toBe(1);
  expect(dependent.output).toContain('POOLWRIGHT_API_KEY');
});
