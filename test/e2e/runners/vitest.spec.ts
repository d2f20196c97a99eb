import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';
import { vitest } from '../../support/e2e/runner-kits.ts';

/** Behaviour specific to Vitest. */

const [cli = ''] = vitest.args;
const TEST = `
  import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, it, onTestFailed, onTestFinished, suite, test } from 'poolwright/vitest';
  const hooks = [];
  describe('with one import', () => {
    beforeAll(() => void hooks.push('beforeAll'));
    beforeEach(() => void hooks.push('beforeEach'));
    test('goes', async ({ page, hostedSession, task }) => {
      onTestFinished(() => void hooks.push('finished'));
      await page.goto(process.env.SITE_URL);
      console.log('SESSION ' + hostedSession.sessionId);
    });
    afterEach(() => void hooks.push('afterEach'));
    afterAll(() => assert.deepEqual(hooks, ['beforeAll', 'beforeEach', 'afterEach', 'finished']));
  });
  expect([it === test, suite === describe, typeof onTestFailed]).toEqual([true, true, 'function']);`;

const config = (more: string) =>
  `export default { test: { globalSetup: 'poolwright/vitest', testTimeout: 60_000, hookTimeout: 60_000, ${more} } };`;

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  for (const { pool, isolate, tag = [] } of [
    { pool: 'threads', isolate: true, tag: '@slow' },
    { pool: 'threads', isolate: false },
    { pool: 'forks', isolate: true },
    { pool: 'forks', isolate: false, tag: '@slow' },
  ]) {
    test(`vitest › runs two files on one browser: pool ${pool}, isolate ${isolate}`, { tag }, async ({
      newConsumer,
      service,
    }) => {
      const consumer = await newConsumer();
      await consumer.write({
        'vitest.config.mjs': config(`pool: '${pool}', isolate: ${isolate}, maxWorkers: 1, fileParallelism: false`),
        'a.test.mjs': TEST,
        'b.test.mjs': TEST,
        'c.test.mjs': `import { test } from 'vitest'; test('needs none', () => {});`,
      });
      const args = [cli, 'run', '--reporter=json', '--reporter=default', '--outputFile=report.json'];
      const run = await runCommand(consumer, args, { ...service.env, SITE_URL: 'about:blank' });
      expect(run.code, run.output).toBe(0);
      const { testResults } = JSON.parse(await consumer.read('report.json'));
      const metas = testResults
        .flatMap(({ assertionResults }: { assertionResults: { meta: object }[] }) => assertionResults)
        .map(({ meta }: { meta: object }) => meta)
        .filter((meta: object) => 'hostedBrowser' in meta);
      expect(metas).toHaveLength(2);
      expect(
        new Set(metas.map((meta: { hostedBrowser: { sessionId: string } }) => meta.hostedBrowser.sessionId)).size,
      ).toBe(1);
      expect(await service.allSessions()).toBe(1);
      expect(await service.running()).toEqual([]);
      const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
      expect(sessions[0]).toMatchObject({ testsServed: 2, endReason: 'run-ended' });
    });
  }

  test('vitest watch › keeps its browser between two runs, and gives it back at the end', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'vitest.config.mjs': config('maxWorkers: 1'), 'a.test.mjs': TEST });
    const run = startCommand(consumer, [cli, 'watch', '--reporter=verbose'], {
      ...service.env,
      SITE_URL: 'about:blank',
    });
    await run.printed(/Waiting for file changes/);
    const [first] = await service.running();
    await appendFile(join(consumer.directory, 'a.test.mjs'), '\n// changed');
    await run.printed(/SESSION [\s\S]*SESSION [\s\S]*Waiting for file changes/);
    expect(await service.running()).toEqual([first]);
    expect(await service.allSessions()).toBe(1);
    process.kill(run.child.pid ?? 0, 'SIGINT');
    await run.exit;
    await expect.poll(() => service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });

  test('vitest watch › ends its workers with Vitest after Ctrl-C mid-test', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'vitest.config.mjs': config(`pool: 'forks', maxWorkers: 1, watch: true`),
      'a.test.mjs': `
      import { test } from 'poolwright/vitest';
      test('waits', { timeout: 600_000 }, async ({ hostedSession }) => {
        console.log('SESSION ' + hostedSession.sessionId);
        await new Promise(() => {});
      });`,
    });
    const run = startCommand(consumer, [cli, 'watch', '--reporter=verbose'], service.env);
    await run.printed(/SESSION/);
    process.kill(run.child.pid ?? 0, 'SIGINT');
    await run.exit;
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    expect(await service.running()).toEqual([]);
  });

  test('vitest › names what to add when a file has no global setup', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'vitest.config.mjs': 'export default {};', 'a.test.mjs': TEST });
    const run = await runCommand(consumer, [cli, 'run'], service.env);
    expect(run.code).toBe(1);
    expect(run.output).toContain("add `globalSetup: 'poolwright/vitest'` to `test` in vitest.config");
    expect(await service.allSessions()).toBe(0);
  });
});

test('vitest › supports shards, concurrent tests, retries and a persistent context', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'vitest.config.mjs': config('maxWorkers: 1, retry: 1'),
    'poolwright.config.mjs': `export default { context: { mode: 'persistent', clear: true } };`,
    'a.test.mjs': `
      import { test, expect } from 'poolwright/vitest';
      test('leaves a cookie', async ({ page }) => {
        await page.goto(process.env.SITE_URL);
        await page.evaluate(() => { document.cookie = 'left=1; max-age=600'; localStorage.left = '1'; });
      });
      let tries = 0;
      test('finds none', async ({ page, browser }) => {
        await page.goto(process.env.SITE_URL);
        expect(await page.evaluate(() => document.cookie + (localStorage.left ?? ''))).not.toMatch(/left|1/);
        expect((await browser.pages()).length).toBe(1);
        tries += 1;
        if (tries === 1) expect(1).toBe(2);
      });`,
    'b.test.mjs': `
      import { describe } from 'vitest';
      import { test, expect } from 'poolwright/vitest';
      describe.concurrent('at once', () => {
        for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto(process.env.SITE_URL + '?' + n); });
      });`,
  });
  const env = { ...service.env, SITE_URL: site.url };
  const shards = [];
  for (const shard of ['1/2', '2/2']) {
    const run = await runCommand(consumer, [cli, 'run', `--shard=${shard}`], env);
    expect(run.code, run.output).toBe(0);
    shards.push(JSON.parse(await consumer.read('test-results/poolwright/run.json')));
  }
  expect(shards.map(({ shard }) => shard)).toEqual([
    { current: 1, total: 2 },
    { current: 2, total: 2 },
  ]);
  const tests = shards.flatMap(({ sessions }) => sessions).flatMap((session: { tests: object[] }) => session.tests);
  const told = tests.map((each) => Object.entries(each).filter(([key]) => ['title', 'retry', 'status'].includes(key)));
  expect(
    told.map((entries) => Object.fromEntries(entries)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  ).toEqual([
    { title: 'at once › test 1', retry: 0, status: 'passed' },
    { title: 'at once › test 2', retry: 0, status: 'passed' },
    { title: 'at once › test 3', retry: 0, status: 'passed' },
    { title: 'finds none', retry: 0, status: 'failed' },
    { title: 'finds none', retry: 1, status: 'passed' },
    { title: 'leaves a cookie', retry: 0, status: 'passed' },
  ]);
  expect(await service.running()).toEqual([]);
});
