import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Browsers come before they are needed, and go before they end. */

test('rollover: the next test runs on a fresh browser, fetched before the present one ends; a test that may outlive every browser is told so', {
  tag: '@versions',
}, async ({ newConsumer, service, site }) => {
  const consumer = await newConsumer();
  // With its margin a test needs 55 s, and a session lives 60. After a test of 6 s no other fits into what is left; one that
  // waits up to 5 s for its first test is still good for it.
  const stay = `const until = Date.now() + 6_000; while (Date.now() < until) await page.evaluate(() => 1);`;
  await consumer.write({
    'playwright.config.ts': wrappedConfig(
      '{ session: { duration: 60 } }',
      `projects: [{ name: 'stays', testMatch: 'stays.spec.ts', timeout: 40_000 }, { name: 'told', testMatch: 'told.spec.ts' }],`,
    ),
    'tests/stays.spec.ts': suite(`
      for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); ${stay} });`),
    'tests/told.spec.ts': suite(`
      test('short', async ({ page }) => { await page.goto('/'); });
      test.describe(() => {
        test.describe.configure({ timeout: 90_000 });
        test('long', async ({ page }, testInfo) => {
          console.log('TOLD ' + JSON.stringify(testInfo.annotations.filter(({ type }) => type === 'warning')));
          await page.goto('/');
        });
      });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const tests = await reportedTests(consumer);
  const stays = tests.filter(({ project }) => project === 'stays');
  const sessions = stays.map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
  expect(new Set(sessions).size).toBe(3);
  const record = await recordOf(consumer);
  const [first, second, third] = record.sessions;
  expect([first?.endReason, second?.endReason]).toEqual(['rolled-over', 'rolled-over']);
  expect(record.sessions.every(({ endConfirmed }) => endConfirmed)).toBe(true);
  // Fetched in the background: asked for before the one before it was given back.
  for (const [before, after] of [
    [first, second],
    [second, third],
  ])
    expect(Date.parse(after?.requestedAt ?? '')).toBeLessThan(Date.parse(before?.endedAt ?? ''));

  expect(run.output).toMatch(
    /poolwright: long: this test may run for 105 s .* ends after 60 s \(the `duration` of its session\)/,
  );
  expect(run.output).toMatch(/TOLD \[\{.*this test may run/);
  const warnings = tests.map(({ annotations }) => annotations.filter(({ type }) => type === 'warning').length);
  expect(warnings).toEqual([0, 0, 0, 0, 1]);
  expect(await service.running()).toEqual([]);
});

test('a browser is given back when no test is left for it, while the run goes on', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(),
    'tests/a.spec.ts': suite(`test('short', async ({ page }) => { await page.goto('/'); });`),
    'tests/b.spec.ts': suite(`
      const { POOLWRIGHT_BASE_URL: url, POOLWRIGHT_API_KEY: key } = process.env;
      /** How many sessions are in this state. */
      async function count(status: string) {
        const list = await fetch(url + '/v1/browser/sessions?status=' + status, { headers: { authorization: 'Bearer ' + key } });
        return (await list.json()).sessions.length;
      }
      test('long', async ({ page }) => {
        await page.goto('/');
        // Before and after: both browsers were there, and the other one ends while this test runs.
        await expect.poll(async () => await count('completed')).toBe(1);
        expect(await count('active')).toBe(1);
      });
      // These belong to the worker that has a browser: they are no reason to keep the other one.
      test('next', async ({ page }) => { await page.goto('/'); });`),
  });
  const run = await runPlaywright(consumer, ['--workers=2'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  const ends = sessions.map(({ endReason }: { endReason: string }) => endReason).sort();
  expect(ends).toEqual(['idle', 'idle']);
});

test('browsers are asked for before the first worker has loaded its tests, one for each worker that will need one', {
  tag: '@versions',
}, async ({ newConsumer, service, site }) => {
  const consumer = await newConsumer();
  // Says when a worker, not the runner, has loaded the file.
  const loaded = `if (process.env.TEST_WORKER_INDEX) console.log('LOADED ' + Date.now());`;
  const three = `for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); });`;
  await consumer.write({
    'playwright.config.ts': wrappedConfig(
      '{}',
      `projects: [
        { name: 'a file', testMatch: 'file.spec.ts' },
        { name: 'one test', testMatch: 'one.spec.ts', fullyParallel: true },
        { name: 'serial tests', testMatch: 'serial.spec.ts', fullyParallel: true },
        { name: 'no browser', testMatch: 'none.spec.ts' },
        { name: 'local', testMatch: 'none.spec.ts', use: { hosted: false } },
      ],`,
    ),
    'tests/file.spec.ts': suite(`${loaded}\n${three}`),
    'tests/one.spec.ts': suite(`${loaded}\ntest('opens', async ({ page }) => { await page.goto('/'); });`),
    'tests/serial.spec.ts': suite(`${loaded}\ntest.describe.configure({ mode: 'serial' });\n${three}`),
    'tests/none.spec.ts': suite(`test('computes', () => { expect(1 + 1).toBe(2); });`),
  });
  const env = { ...service.env, SITE_URL: site.url };
  const list = await runPlaywright(consumer, ['--list'], env);
  expect(list.code, list.output).toBe(0);
  expect(await service.allSessions()).toBe(0);

  const run = await runPlaywright(consumer, ['--workers=5'], env);
  expect(run.code, run.output).toBe(0);
  const moments = [...run.output.matchAll(/LOADED (\d+)/g)].map(([, at]) => Number(at));
  expect(moments).toHaveLength(3);
  expect(await service.allSessions()).toBe(3);
  const { sessions } = await recordOf(consumer);
  for (const { requestedAt } of sessions) expect(Date.parse(requestedAt ?? '')).toBeLessThan(Math.min(...moments));
});
