import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

test.use({ browsers: 'stub' });

/** Three tests; the second one fails, so that Playwright replaces the worker. */
const THREE = suite(`
  test('one', async ({ page }) => { await page.goto('about:blank'); });
  test('two', async ({ page, browser }) => { await page.goto('about:blank'); await (await browser.newContext()).close(); expect(1).toBe(2); });
  test('three', async ({ page }) => { await page.goto('about:blank'); });`);

/**
 * The projects of one run with one worker at a time: `reuse`, the tests, and the number of the browser that serves each
 * test.
 */
const PROJECTS: Record<string, { reuse: string; tests: string; browsers: number[] }> = {
  run: {
    reuse: 'run',
    tests: suite(`
      test('fails', async ({ page }) => { await page.goto('about:blank'); expect(1).toBe(2); });
      test('passes after it', async ({ page }) => { await page.goto('about:blank'); });
      test('throws in a hook', async ({ page }) => { await page.goto('about:blank'); });
      test.afterEach(async ({}, testInfo) => { if (testInfo.title === 'throws in a hook') throw new Error('from a hook'); });
      test('passes at the end', async ({ page }) => { await page.goto('about:blank'); });`),
    browsers: [1, 1, 1, 1],
  },
  worker: { reuse: 'worker', tests: THREE, browsers: [1, 1, 2] },
  test: { reuse: 'test', tests: THREE, browsers: [1, 2, 3] },
  'left-open': {
    reuse: 'test',
    tests: suite(`
      test('leaves one open', async ({ browser }) => { await (await browser.newContext()).newPage(); });
      test('shares', async ({ page }) => { await page.goto('about:blank'); });
      test('shares too', async ({ page }) => { await page.goto('about:blank'); });`),
    browsers: [1, 1, 1],
  },
  'at-once': {
    reuse: 'test',
    tests: suite(`
      for (const n of [1, 2, 3, 4]) test('test ' + n, async ({ browser }) => {
        const contexts = await Promise.all([1, 2, 3].map(() => browser.newContext()));
        await Promise.all(contexts.map(async (context) => (await context.newPage()).goto('about:blank')));
        for (const context of contexts) await context.close();
      });`),
    browsers: [1, 2, 3, 4],
  },
  'before-all': {
    reuse: 'test',
    tests: suite(`
      test.beforeAll(async ({ browser }) => { await (await browser.newContext()).close(); });
      test('fails by itself', async ({ page }) => { await page.goto('about:blank'); expect(1).toBe(2); });`),
    browsers: [1],
  },
};

test('shares a browser within the run, a worker or one test, depending on `reuse`', { tag: '@versions' }, async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  const projects = Object.entries(PROJECTS).map(
    ([name, { reuse }]) => `{ name: '${name}', testMatch: '${name}.spec.ts', use: { hosted: { reuse: '${reuse}' } } }`,
  );
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{}', `projects: [${projects}],`),
    ...Object.fromEntries(Object.entries(PROJECTS).map(([name, { tests }]) => [`tests/${name}.spec.ts`, tests])),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], service.env);
  expect(run.code, run.output).toBe(1);
  const all = await reportedTests(consumer);
  const served = (project: string) =>
    all.filter((each) => each.project === project).map(({ results }) => hostedAttachments(results[0])[0]);
  for (const [project, { browsers }] of Object.entries(PROJECTS)) {
    const sessions = served(project).map((attachment) => attachment?.sessionId);
    const distinct = [...new Set(sessions)];
    expect(
      sessions.map((session) => distinct.indexOf(session) + 1),
      project,
    ).toEqual(browsers);
  }
  const failed = all.filter(({ results }) => results[0]?.status !== 'passed').map(({ title }) => title);
  expect(failed).toEqual(['fails', 'throws in a hook', 'two', 'two', 'fails by itself']);
  expect(served('run').map((attachment) => attachment?.reused)).toEqual([false, true, true, true]);
  expect(new Set(served('run').map((attachment) => attachment?.workerIndex)).size).toBe(3);

  // A context that stays open is reported once, and only for the project that has one.
  const said = run.output.match(/^poolwright: .*this test gets no new browser, because a context /gm);
  expect(said, run.output).toEqual([expect.stringContaining('"left-open"')]);
  const record = await recordOf(consumer);
  const atOnce = new Set(served('at-once').map((attachment) => attachment?.sessionId));
  const ended = record.sessions.filter(({ sessionId }) => atOnce.has(sessionId));
  expect(ended.map(({ tests }) => tests.length)).toEqual([1, 1, 1, 1]);
  // No browser was forgotten during the run: each ended after its test, not with the worker.
  expect(ended.map(({ endReason }) => endReason)).not.toContain('worker-died');
  // Releasing the browser of a `beforeAll` does not count as a loss.
  expect(run.output).not.toContain('hosted browser was lost');
  expect(served('before-all')).toMatchObject([{ infrastructureFailure: null }]);
  expect(await service.running()).toEqual([]);
});

test("reuse: 'test' at the limit: queues prefetches, fails no test, and creates no unused browser", async ({
  newConsumer,
}) => {
  const service = await startService({ browser: 'stub', concurrentBrowsers: 1 });
  try {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(`{ reuse: 'test', acquireTimeout: 5000 }`),
      'tests/a.spec.ts': suite(`
        for (const ms of [6000, 1, 0]) test('takes ' + ms, async ({ page }) => {
          await page.goto('about:blank');
          await new Promise((resolve) => setTimeout(resolve, ms));
        });`),
    });
    const run = await runPlaywright(consumer, ['--workers=1'], service.env);
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

for (const { workers, parallel, warm, tag = [] } of [
  { workers: 1, parallel: false, warm: false, tag: '@slow' },
  { workers: 2, parallel: false, warm: false, tag: '@slow' },
  { workers: 4, parallel: false, warm: true },
  { workers: 2, parallel: true, warm: false },
]) {
  const how = `${workers} workers${parallel ? ', fully parallel' : ''}${warm ? ', from a pool' : ''}`;
  test(`reuse: 'test' and \`budget.sessions\`: uses one browser per try of a test (${how})`, { tag }, async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    const opens = (names: string[]) =>
      names.map((name) => `test('${name}', async ({ page }) => { await page.goto('about:blank'); });`).join('\n');
    const pool = warm ? `pool: { create: { name: 'one-each' } }, ` : '';
    await consumer.write({
      'playwright.config.ts': wrappedConfig(
        `{ ${pool}reuse: 'test', budget: { sessions: 8 } }`,
        `retries: 1, fullyParallel: ${parallel},`,
      ),
      'tests/one-worker.spec.ts': suite(`${opens(['a', 'b'])}
        test('fails once', async ({ page }, { retry }) => { await page.goto('about:blank'); expect(retry).toBe(1); });`),
      'tests/any-worker.spec.ts': suite(`test.describe.configure({ mode: 'parallel' });
        ${opens(['c', 'd', 'e'])}`),
      'tests/serial.spec.ts': suite(`test.describe.configure({ mode: 'serial' });
        ${opens(['f'])}`),
    });
    const run = await runPlaywright(consumer, [`--workers=${workers}`], service.env);
    expect(run.code, run.output).toBe(0);
    const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    expect(sessions.map(({ tests }: { tests: unknown[] }) => tests.length)).toEqual(Array(8).fill(1));
  });
}

test('keeps a browser for the worker that will need it, however slowly that starts', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': `
      // A worker that starts slowly, as on a busy machine.
      if (process.env.TEST_WORKER_INDEX) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_000);
      ${wrappedConfig()}`,
    'tests/a.spec.ts': suite(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`),
  });
  const args = ['--repeat-each=2', '--workers=1'];
  const run = await runPlaywright(consumer, args, service.env);
  expect(run.code, run.output).toBe(0);
  expect(await service.allSessions()).toBe(1);
  const tests = (await reportedTests(consumer)).map(({ results }) => results[0]?.workerIndex);
  expect(tests).toEqual([0, 1]);
});
