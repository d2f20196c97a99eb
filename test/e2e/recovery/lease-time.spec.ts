import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';

/** Browsers arrive before they are needed, and are given back before they expire. */

test.use({ browsers: 'stub' });

test('lease time › a browser that would expire is replaced', { tag: ['@versions', '@slow'] }, async ({
  runSuite,
  service,
}) => {
  // A test with its margin needs 55 s; a session lives 60 s. After a test of 6 s, the rest is too short for another
  // one. unit/clients/shared/worker-browser-model.spec.ts tests that the next browser is requested early.
  const run = await runSuite({
    options: '{ session: { duration: 60 } }',
    config: 'timeout: 40_000,',
    tests: `for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => {
      await page.goto('about:blank');
      await new Promise((resolve) => setTimeout(resolve, 6_000));
    });`,
    args: ['--workers=1'],
  });
  const sessions = (await run.tests()).map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
  expect(new Set(sessions).size).toBe(3);
  const record = await run.record();
  // On a busy machine, the worker may start so slowly that the first requested browser expires unused.
  const [first, second] = sessions.map((id) => record.sessions.find(({ sessionId }) => sessionId === id));
  expect([first?.endReason, second?.endReason]).toEqual(['rolled-over', 'rolled-over']);
  expect(record.sessions.every(({ endConfirmed }) => endConfirmed)).toBe(true);
  expect(await service.running()).toEqual([]);
});

test('lease time › a test that may outlive any browser is warned of', { tag: '@versions' }, async ({ runSuite }) => {
  const run = await runSuite({
    options: '{ session: { duration: 60 } }',
    tests: `
      test('short', async ({ page }) => { await page.goto('about:blank'); });
      test.describe(() => {
        test.describe.configure({ timeout: 90_000 });
        test('long', async ({ page }, testInfo) => {
          console.log('TOLD ' + JSON.stringify(testInfo.annotations.filter(({ type }) => type === 'warning')));
          await page.goto('about:blank');
        });
      });`,
    args: ['--workers=1'],
  });
  expect(run.output).toMatch(
    /poolwright: long: this test may run for 105 s .* ends after 60 s \(the `duration` of its session\)/,
  );
  expect(run.output).toMatch(/TOLD \[\{.*this test may run/);
  const tests = await run.tests();
  const warnings = tests.map(({ annotations }) => annotations.filter(({ type }) => type === 'warning').length);
  expect(warnings).toEqual([0, 1]);
});

test('lease time › a browser without tests left is given back during the run', async ({ runSuite }) => {
  const run = await runSuite({
    tests: {
      a: `test('short', async ({ page }) => { await page.goto('about:blank'); });`,
      b: `
      const { POOLWRIGHT_BASE_URL: url, POOLWRIGHT_API_KEY: key } = process.env;
      /** Returns the number of sessions in this state. */
      async function count(status: string) {
        const list = await fetch(url + '/v1/browser/sessions?status=' + status, { headers: { authorization: 'Bearer ' + key } });
        return (await list.json()).sessions.length;
      }
      test('long', async ({ page }) => {
        test.setTimeout(180_000);
        await page.goto('about:blank');
        // First both browsers exist, then the other one ends while this test runs.
        await expect.poll(async () => await count('completed'), { timeout: 120_000 }).toBe(1);
        expect(await count('active')).toBe(1);
      });
      // These tests belong to the worker that has a browser, so the other browser is not kept for them.
      test('next', async ({ page }) => { await page.goto('about:blank'); });`,
    },
    args: ['--workers=2'],
  });
  const { sessions } = await run.record();
  const ends = sessions.map(({ endReason }) => endReason).sort();
  expect(ends).toEqual(['idle', 'idle']);
});

test('lease time › browsers are requested before any worker loads its tests', {
  tag: '@versions',
}, async ({ runSuite, service }) => {
  // Prints when a worker, not the runner, has loaded the file.
  const loaded = `if (process.env.TEST_WORKER_INDEX) console.log('LOADED ' + Date.now());`;
  const three = `for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('about:blank'); });`;
  const run = await runSuite({
    config: `projects: [
        { name: 'a file', testMatch: 'file.spec.ts' },
        { name: 'one test', testMatch: 'one.spec.ts', fullyParallel: true },
        { name: 'serial tests', testMatch: 'serial.spec.ts', fullyParallel: true },
        { name: 'local', testMatch: 'none.spec.ts', use: { hosted: false } },
      ],`,
    tests: {
      file: `${loaded}\n${three}`,
      one: `${loaded}\ntest('opens', async ({ page }) => { await page.goto('about:blank'); });`,
      serial: `${loaded}\ntest.describe.configure({ mode: 'serial' });\n${three}`,
      none: `test('computes', () => { expect(1 + 1).toBe(2); });`,
    },
    args: ['--workers=5'],
  });
  const moments = [...run.output.matchAll(/LOADED (\d+)/g)].map(([, at]) => Number(at));
  expect(moments).toHaveLength(3);
  expect(await service.allSessions()).toBe(3);
  const { sessions } = await run.record();
  for (const { requestedAt } of sessions) expect(Date.parse(requestedAt ?? '')).toBeLessThan(Math.min(...moments));
});
