import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Browsers come before they are needed, and go before they end. */

test('rollover: the next test runs on a fresh browser, fetched before the present one ends', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  // With its margin a test needs 55 s, and a session lives 60. After a test of 6 s no other fits into what is left; one that
  // waits up to 5 s for its first test is still good for it.
  const stay = `const until = Date.now() + 6_000; while (Date.now() < until) await page.evaluate(() => 1);`;
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{ session: { duration: 60 } }', 'timeout: 40_000,'),
    'tests/a.spec.ts': suite(`
      for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); ${stay} });`),
  });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const tests = await reportedTests(consumer);
  const sessions = tests.map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
  expect(new Set(sessions).size).toBe(3);
  const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  const [first, second, third] = record.sessions;
  expect([first.endReason, second.endReason]).toEqual(['rolled-over', 'rolled-over']);
  expect(record.sessions.every((session: { endConfirmed: boolean }) => session.endConfirmed)).toBe(true);
  // Fetched in the background: asked for before the one before it was given back.
  for (const [before, after] of [
    [first, second],
    [second, third],
  ])
    expect(Date.parse(after.requestedAt)).toBeLessThan(Date.parse(before.endedAt));
  expect(await service.running()).toEqual([]);
});

test('a test that may outlive every browser is told so at its start; others are not', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{ session: { duration: 60 } }'),
    'tests/a.spec.ts': suite(`
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
  expect(run.output).toMatch(
    /poolwright: long: this test may run for 105 s .* ends after 60 s \(the `duration` of its session\)/,
  );
  expect(run.output).toMatch(/TOLD \[\{.*this test may run/);
  const [short, long] = await reportedTests(consumer);
  const warnings = (of: typeof short) => of?.annotations.filter(({ type }) => type === 'warning');
  expect([warnings(short)?.length, warnings(long)?.length]).toEqual([0, 1]);
});

test('a browser that nobody will need is given back within 5 s, while the run goes on', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(),
    'tests/a.spec.ts': suite(`test('short', async ({ page }) => { await page.goto('/'); });`),
    'tests/b.spec.ts': suite(`
      test('long', async ({ page }) => {
        await page.goto('/');
        const until = Date.now() + 12_000;
        while (Date.now() < until) await page.evaluate(() => 1);
      });`),
  });
  const run = await runPlaywright(consumer, ['--workers=2'], { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(0);
  const short = (await reportedTests(consumer)).find(({ title }) => title === 'short');
  const [attachment] = hostedAttachments(short?.results[0]);
  const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  const session = sessions.find(({ sessionId }: { sessionId: string }) => sessionId === attachment?.sessionId);
  expect(session).toMatchObject({ endReason: 'idle', endConfirmed: true });
  // 5 s of waiting, the stop itself, and what a busy machine adds; the run goes on for longer.
  expect(Date.parse(session.endedAt) - Date.parse(String(attachment?.endedAt))).toBeLessThan(11_000);
});

test.describe('fetch-ahead', () => {
  /** Says when a worker, not the runner, has loaded the file. */
  const LOADED = `if (process.env.TEST_WORKER_INDEX) console.log('LOADED ' + Date.now());`;
  const file = (body = '') => suite(`${LOADED}\ntest('opens', async ({ page }) => { await page.goto('/'); ${body} });`);

  test('browsers are asked for before the first worker has loaded its tests', async ({
    newConsumer,
    service,
    site,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(),
      'tests/a.spec.ts': file(),
      'tests/b.spec.ts': file(),
    });
    const run = await runPlaywright(consumer, ['--workers=2'], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);
    const loaded = [...run.output.matchAll(/LOADED (\d+)/g)].map(([, at]) => Number(at));
    expect(loaded).toHaveLength(2);
    const { sessions } = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    expect(sessions).toHaveLength(2);
    for (const { requestedAt } of sessions) expect(Date.parse(requestedAt)).toBeLessThan(Math.min(...loaded));
    expect(sessions.map(({ parallelIndex }: { parallelIndex: number }) => parallelIndex).sort()).toEqual([0, 1]);
  });

  const few = [
    { name: 'a run of one test holds one browser', extra: 'fullyParallel: true,', args: ['a.spec.ts'], browsers: 1 },
    { name: 'tests of one file share one', extra: '', args: ['several.spec.ts'], browsers: 1 },
    { name: 'so do serial ones', extra: 'fullyParallel: true,', args: ['serial.spec.ts'], browsers: 1 },
    { name: 'a file that needs no browser gets none', extra: '', args: ['none.spec.ts'], browsers: 0 },
    {
      name: 'a project on local browsers gets none',
      extra: 'projects: [{ name: "local", use: { hosted: false } }],',
      args: ['none.spec.ts'],
      browsers: 0,
    },
    { name: 'nothing is fetched for a list', extra: '', args: ['--list'], browsers: 0 },
  ];
  for (const { name, extra, args, browsers } of few) {
    test(name, async ({ newConsumer, service, site }) => {
      const consumer = await newConsumer();
      await consumer.write({
        'playwright.config.ts': wrappedConfig('{}', extra),
        'tests/a.spec.ts': file(),
        'tests/several.spec.ts': suite(
          `for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); });`,
        ),
        'tests/serial.spec.ts': suite(`
          test.describe.configure({ mode: 'serial' });
          for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); });`),
        'tests/none.spec.ts': suite(`test('computes', () => { expect(1 + 1).toBe(2); });`),
      });
      const run = await runPlaywright(consumer, ['--workers=4', ...args], { ...service.env, SITE_URL: site.url });
      expect(run.code, run.output).toBe(0);
      expect(await service.allSessions()).toBe(browsers);
    });
  }
});
