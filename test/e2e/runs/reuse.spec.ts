import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';

test.use({ browsers: 'stub' });

/** Three tests; the second one fails, so that Playwright replaces the worker. */
const THREE = `
  test('one', async ({ page }) => { await page.goto('about:blank'); });
  test('two', async ({ page, browser }) => { await page.goto('about:blank'); await (await browser.newContext()).close(); expect(1).toBe(2); });
  test('three', async ({ page }) => { await page.goto('about:blank'); });`;

/**
 * The files of one run with one worker at a time: the project, whose name is its `reuse`, the tests, and the number of
 * the file's browser that serves each test.
 */
const FILES: Record<string, { project: 'run' | 'worker' | 'test'; tests: string; browsers: number[] }> = {
  'in-the-run': {
    project: 'run',
    tests: `
      test('fails', async ({ page }) => { await page.goto('about:blank'); expect(1).toBe(2); });
      test('passes after it', async ({ page }) => { await page.goto('about:blank'); });
      test('throws in a hook', async ({ page }) => { await page.goto('about:blank'); });
      test.afterEach(async ({}, testInfo) => { if (testInfo.title === 'throws in a hook') throw new Error('from a hook'); });
      test('passes at the end', async ({ page }) => { await page.goto('about:blank'); });`,
    browsers: [1, 1, 1, 1],
  },
  'in-a-worker': { project: 'worker', tests: THREE, browsers: [1, 1, 2] },
  'at-once': {
    project: 'test',
    tests: `
      for (const n of [1, 2, 3]) test('test ' + n, async ({ browser }) => {
        const contexts = await Promise.all([1, 2, 3].map(() => browser.newContext()));
        await Promise.all(contexts.map(async (context) => (await context.newPage()).goto('about:blank')));
        for (const context of contexts) await context.close();
      });`,
    browsers: [1, 2, 3],
  },
  'for-a-test': { project: 'test', tests: THREE, browsers: [1, 2, 3] },
  'left-open': {
    project: 'test',
    tests: `
      test('leaves one open', async ({ browser }) => { await (await browser.newContext()).newPage(); });
      test('shares', async ({ page }) => { await page.goto('about:blank'); });
      test('shares too', async ({ page }) => { await page.goto('about:blank'); expect(1).toBe(2); });`,
    browsers: [1, 1, 1],
  },
  'the-last': {
    project: 'test',
    tests: `
      test.beforeAll(async ({ browser }) => { await (await browser.newContext()).close(); });
      test('fails by itself', async ({ page }) => { await page.goto('about:blank'); expect(1).toBe(2); });`,
    browsers: [1],
  },
};

test('reuse › shares a browser within the run, a worker or one test', { tag: '@versions' }, async ({
  runSuite,
  service,
}) => {
  const projects = ['run', 'worker', 'test'].map((reuse) => {
    const names = Object.entries(FILES).flatMap(([name, { project }]) =>
      project === reuse ? [`**/${name}.spec.ts`] : [],
    );
    return `{ name: '${reuse}', testMatch: ${JSON.stringify(names)}, use: { hosted: { reuse: '${reuse}' } } }`;
  });
  const run = await runSuite({
    config: `projects: [${projects}],`,
    tests: Object.fromEntries(Object.entries(FILES).map(([name, { tests }]) => [name, tests])),
    args: ['--workers=1'],
    code: 1,
  });
  const all = await run.tests();
  const served = (name: string) =>
    all.filter(({ file }) => file === `${name}.spec.ts`).map(({ results }) => hostedAttachments(results[0])[0]);
  for (const [name, { browsers }] of Object.entries(FILES)) {
    const sessions = served(name).map((attachment) => attachment?.sessionId);
    const distinct = [...new Set(sessions)];
    const numbers = sessions.map((session) => distinct.indexOf(session) + 1);
    expect(numbers, name).toEqual(browsers);
  }
  const failed = all.filter(({ results }) => results[0]?.status !== 'passed').map(({ title }) => title);
  expect(failed).toEqual(['fails', 'throws in a hook', 'two', 'two', 'shares too', 'fails by itself']);
  expect(served('in-the-run').map((attachment) => attachment?.reused)).toEqual([false, true, true, true]);
  expect(new Set(served('in-the-run').map((attachment) => attachment?.workerIndex)).size).toBe(3);

  // A context that stays open is reported once.
  const said = run.output.match(/^poolwright: .*this test gets no new browser, because a context /gm);
  expect(said, run.output).toHaveLength(1);
  const record = await run.record();
  const atOnce = new Set(served('at-once').map((attachment) => attachment?.sessionId));
  const ended = record.sessions.filter(({ sessionId }) => atOnce.has(sessionId));
  expect(ended.map(({ tests }) => tests.length)).toEqual([1, 1, 1]);
  // No browser was forgotten during the run: each ended after its test, not with the worker.
  expect(ended.map(({ endReason }) => endReason)).not.toContain('worker-died');
  // Releasing the browser of a `beforeAll` does not count as a loss.
  expect(run.output).not.toContain('hosted browser was lost');
  expect(served('the-last')).toMatchObject([{ infrastructureFailure: null }]);
  expect(await service.running()).toEqual([]);
});

test.describe('at a limit of one', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 1 } });

  test("reuse: 'test' › queues prefetches, and creates no unused browser", { tag: '@slow' }, async ({
    runSuite,
    service,
  }) => {
    const run = await runSuite({
      options: `{ reuse: 'test', acquireTimeout: 5000 }`,
      tests: `
        for (const ms of [6000, 1, 0]) test('takes ' + ms, async ({ page }) => {
          await page.goto('about:blank');
          await new Promise((resolve) => setTimeout(resolve, ms));
        });`,
      args: ['--workers=1'],
    });
    const { leaseFailures, sessions } = await run.record();
    expect(leaseFailures).toEqual([]);
    expect(sessions.map(({ tests }) => tests.length)).toEqual([1, 1, 1]);
    expect(sessions.map(({ endReason }) => endReason)).not.toContain('worker-died');
    expect(await service.allSessions()).toBe(3);
    expect(await service.running()).toEqual([]);
  });

  /** Blocks a process until a file exists. */
  const WAITS = `
    import { existsSync, writeFileSync } from 'node:fs';
    const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    const until = (file) => { while (!existsSync(file)) block(20); };`;

  test('reuse › takes the browser of a worker without a test when a new worker needs it', async ({
    runSuite,
    service,
  }) => {
    // The worker of the failed test ends slowly. Playwright keeps the other one meanwhile, which then has no test.
    const run = await runSuite({
      options: '{ acquireTimeout: 20_000 }',
      config: 'retries: 1,',
      tests: {
        a: `${WAITS}
          process.on('exit', () => { until('b-is-over'); block(500); });
          test('fails once', async ({ page }, { retry }) => {
            await page.goto('about:blank');
            writeFileSync('a-has-the-browser', '');
            expect(retry).toBe(1);
          });`,
        b: `${WAITS}
          if (process.env.TEST_WORKER_INDEX) until('a-has-the-browser');
          test('passes', async ({ page }) => { await page.goto('about:blank'); });
          test.afterAll(() => writeFileSync('b-is-over', ''));`,
      },
      args: ['--workers=2'],
    });
    const tries = (await run.tests()).flatMap(({ title, results }) =>
      results.map(({ status, parallelIndex }) => `${title} ${status} ${parallelIndex}`),
    );
    expect(tries).toEqual(['fails once failed 0', 'fails once passed 0', 'passes passed 1']);
    expect((await run.record()).leaseFailures).toEqual([]);
    expect(await service.allSessions()).toBe(1);
  });
});

for (const { workers, parallel, warm, tag = '@slow' } of [
  { workers: 1, parallel: false, warm: false },
  { workers: 2, parallel: false, warm: false },
  { workers: 4, parallel: false, warm: true },
  { workers: 2, parallel: true, warm: true, tag: [] },
]) {
  const how = `${workers} workers${parallel ? ', fully parallel' : ''}${warm ? ', from a pool' : ''}`;
  test(`reuse: 'test' › uses one browser per try of a test: ${how}`, { tag }, async ({ runSuite }) => {
    const opens = (names: string[]) =>
      names.map((name) => `test('${name}', async ({ page }) => { await page.goto('about:blank'); });`).join('\n');
    const pool = warm ? `pool: { create: { name: 'one-each' } }, ` : '';
    const run = await runSuite({
      options: `{ ${pool}reuse: 'test', budget: { sessions: 8 } }`,
      config: `retries: 1, fullyParallel: ${parallel},`,
      tests: {
        'one-worker': `${opens(['a', 'b'])}
          test('fails once', async ({ page }, { retry }) => { await page.goto('about:blank'); expect(retry).toBe(1); });`,
        'any-worker': `test.describe.configure({ mode: 'parallel' });
          ${opens(['c', 'd', 'e'])}`,
        serial: `test.describe.configure({ mode: 'serial' });
          ${opens(['f'])}`,
      },
      args: [`--workers=${workers}`],
    });
    const { sessions } = await run.record();
    expect(sessions.map(({ tests }) => tests.length)).toEqual(Array(8).fill(1));
  });
}

test('reuse › keeps a browser for the next worker, however slowly that starts', { tag: '@slow' }, async ({
  runSuite,
  service,
}) => {
  const run = await runSuite({
    // As on a busy machine.
    config: `...(process.env.TEST_WORKER_INDEX && Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_000) && {}),`,
    tests: `test('opens', async ({ page }) => { await page.goto('about:blank'); });`,
    args: ['--repeat-each=2', '--workers=1'],
  });
  expect(await service.allSessions()).toBe(1);
  expect((await run.tests()).map(({ results }) => results[0]?.workerIndex)).toEqual([0, 1]);
});
