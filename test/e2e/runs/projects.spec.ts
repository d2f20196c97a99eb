import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { localChromium } from '../../support/local-chromium.ts';

const LAUNCH = async () =>
  JSON.stringify({
    executablePath: await localChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });

test('each project goes its own way; what the user has is kept', async ({ newConsumer, service, site }) => {
  const pool = await service.client.createPool({ name: 'named', size: 1 });
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      const config = withHostedBrowsers({
        testDir: './tests',
        reporter: [['json'], ['./mine.ts']],
        globalSetup: ['./one.ts', './two.ts'],
        use: { baseURL: process.env.SITE_URL, contextOptions: { reducedMotion: 'reduce' } },
        projects: [
          { name: 'pool' },
          { name: 'session', use: { hosted: { session: { duration: 60 }, reuse: 'worker' } } },
          { name: 'local', use: { hosted: false, launchOptions: ${await LAUNCH()} } },
        ],
      }, { pool: 'named' });
      export default defineConfig(withHostedBrowsers(config, { pool: 'named' }));`,
    'one.ts': `export default () => { process.env.FROM_ONE = 'one'; };`,
    'two.ts': `export default () => { process.env.FROM_TWO = 'two'; };`,
    'mine.ts': `export default class { onTestEnd(test) { process.stderr.write('MINE ' + test.title + '\\n'); } printsToStdio() { return false; } }`,
    'tests/a.spec.ts': suite(`test('a', async ({ page }) => {
      await page.goto('/');
      expect(process.env.FROM_ONE + process.env.FROM_TWO).toBe('onetwo');
      expect(await page.evaluate(() => matchMedia('(prefers-reduced-motion)').matches)).toBe(true);
    });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  expect(run.output.match(/MINE a/g)).toHaveLength(3);
  expect(run.output).toContain('on local browsers: local');
  const byProject = new Map(
    (await reportedTests(consumer)).map(({ project, results }) => [project, hostedAttachments(results[0])]),
  );
  expect(byProject.get('pool')).toMatchObject([{ poolId: pool.id }]);
  expect(byProject.get('session')).toMatchObject([{ poolId: null }]);
  expect(byProject.get('local')).toEqual([]);
  expect(await service.running()).toEqual([]);
});

test('a global setup that changes POOLWRIGHT_POOL comes too late for the plan, and is told', async ({
  newConsumer,
  service,
  site,
}) => {
  const [first] = await Promise.all(['first', 'second'].map((name) => service.client.createPool({ name, size: 1 })));
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{}', `globalSetup: './setup.ts',`),
    'setup.ts': `export default () => { process.env.POOLWRIGHT_POOL = 'second'; };`,
    'tests/a.spec.ts': suite(`test('a', async ({ page }) => { await page.goto('/'); });`),
  });
  const run = await runPlaywright(consumer, [], { ...service.env, SITE_URL: site.url, POOLWRIGHT_POOL: 'first' });
  expect(run.code, run.output).toBe(0);
  expect(run.output).toContain('the global setup changed POOLWRIGHT_POOL');
  const record = JSON.parse(await readFile(join(consumer.folder, 'test-results/poolwright/run.json'), 'utf8'));
  expect(record.sessions).toMatchObject([{ poolId: first?.id, testsServed: 1 }]); // and none that nobody used
});

test('projects of one name keep their own options, and so does a test file that has its own', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      const noted = (note) => ({ name: 'twin', testMatch: 'twin.spec.ts', use: { hosted: { session: { note } } } });
      export default defineConfig(withHostedBrowsers({ testDir: './tests', reporter: [['list'], ['json']], use: { baseURL: process.env.SITE_URL },
        projects: [noted('one'), noted('two'), { name: 'local', testMatch: 'own.spec.ts', use: { hosted: false } }] }));`,
    'tests/twin.spec.ts': suite(`test('twin', async ({ page }) => { await page.goto('/'); });`),
    // The runner does not know these options: they are told to the broker by the worker.
    'tests/own.spec.ts': `import { test } from 'poolwright';
      test.use({ hosted: { session: { note: 'own' } } });
      test('own', async ({ page }) => { await page.goto('/'); });`,
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const notes = [];
  for (const { title, project, results } of await reportedTests(consumer)) {
    const [attachment] = hostedAttachments(results[0]);
    const { note } = await service.client.getSession(String(attachment?.sessionId));
    notes.push(
      `${project} ${title}: ${note?.split(' shard=')[0]?.replace(/ run=\S+/, '')} ${/project=\S+/.exec(note ?? '')}`,
    );
  }
  expect(notes).toEqual([
    'twin twin: one poolwright project=twin',
    'twin twin: two poolwright project=twin',
    'local own: own poolwright project=local',
  ]);
  const record = JSON.parse(await readFile(join(consumer.folder, 'test-results/poolwright/run.json'), 'utf8'));
  expect(record.sessions).toHaveLength(3); // none that nobody used
  expect(await service.running()).toEqual([]);
});

test('a pool made for the run is sized to its workers and deleted after it', async ({ newConsumer, service, site }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      export default defineConfig(withHostedBrowsers({ testDir: './tests', fullyParallel: true, reporter: 'json', use: { baseURL: process.env.SITE_URL } },
        { pool: { create: { leaseTimeoutSeconds: 60 } }, fallback: 'fail' }));`,
    // The pool lives only as long as the run: its tests are who can see it.
    'tests/a.spec.ts': suite(`for (const name of ['a', 'b']) test(name, async ({ page }) => {
      await page.goto('/');
      const answer = await fetch(process.env.POOLWRIGHT_BASE_URL + '/v1/browser/pools', {
        headers: { authorization: 'Bearer ' + process.env.POOLWRIGHT_API_KEY },
      });
      const { pools } = await answer.json();
      expect(pools.map(({ size, leaseTimeoutSeconds }) => ({ size, leaseTimeoutSeconds }))).toEqual([{ size: 2, leaseTimeoutSeconds: 60 }]);
    });`),
  });
  const run = await runPlaywright(consumer, ['--workers=2'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  for (const { results } of await reportedTests(consumer))
    expect(hostedAttachments(results[0])).toMatchObject([{ poolId: expect.any(String) }]);
  expect(await service.client.listPools()).toEqual([]);
  expect(await service.running()).toEqual([]);
});

test('an empty pool falls back to a session, or fails and says so', async ({ newConsumer, service, site }) => {
  const pool = await service.client.createPool({ name: 'paused', size: 1 });
  await service.client.updatePool(pool.id, { paused: true });
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      export default defineConfig(withHostedBrowsers({ testDir: './tests', reporter: [['list'], ['json']], use: { baseURL: process.env.SITE_URL }, projects: [
        { name: 'falls-back' }, { name: 'fails', use: { hosted: { pool: 'paused', fallback: 'fail' } } },
      ] }, { pool: 'paused' }));`,
    'tests/a.spec.ts': suite(`test('a', async ({ page }) => { await page.goto('/'); });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code).toBe(1);
  const [fallsBack, fails] = await reportedTests(consumer);
  expect(hostedAttachments(fallsBack?.results[0])).toMatchObject([{ poolId: null }]);
  expect(fails?.results[0]?.status).toBe('failed');
  expect(fails?.results[0]?.error?.message).toContain('paused');
});

test('a user config is typed: no cast, and a wrong key is a type error', async ({ newConsumer }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: 'nodenext',
        moduleResolution: 'nodenext',
        target: 'es2022',
        skipLibCheck: true,
        types: [],
      },
      include: ['*.ts'],
    }),
    'good.ts': `
      import { defineConfig, devices } from '@playwright/test';
      import { withHostedBrowsers } from 'poolwright';
      export default defineConfig(withHostedBrowsers({
        testDir: './tests',
        projects: [
          { name: 'us', use: { ...devices['Desktop Chrome'] } },
          { name: 'de', use: { hosted: { session: { type: 'hosted_stealth', country: 'DE' } } } },
          { name: 'local', use: { hosted: false } },
        ],
      }, { pool: 'pool_e2e', fallback: 'session' }));`,
    'bad.ts': `
      import { withHostedBrowsers } from 'poolwright';
      // @ts-expect-error: country is a text
      withHostedBrowsers({ projects: [{ use: { hosted: { session: { country: 5 } } } }] });
      // @ts-expect-error: pol is no option
      withHostedBrowsers({}, { pol: 'x' });`,
  });
  const tsc = new URL('../../../node_modules/typescript/bin/tsc', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', consumer.folder]).catch((error) => error);
  expect(stdout).toBe('');
});
