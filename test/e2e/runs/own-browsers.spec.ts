import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type FarChromium, startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { reportedTests } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { STAYS } from '../../support/e2e/suites.ts';
import { freePort } from '../../support/free-port.ts';
import { poolwright } from '../../support/run-cli.ts';
import { ownTitle, watchRun } from '../../support/watch/watched-run.ts';

/** Browsers that run already, by their debugging port: no service and no emulator. */

const test = base.extend<{ chromium: FarChromium; port: string; nobody: string }>({
  nobody: async ({}, use) => await use(`http://127.0.0.1:${await freePort()}`),
  // It is far: only exposeNetwork reaches the test's servers.
  chromium: async ({}, use) => {
    const chromium = await startFarChromium(['localhost', '127.0.0.1']);
    await use(chromium);
    await chromium.close();
  },
  port: async ({ chromium }, use) => await use(`http://${new URL(chromium.cdpUrl).host}`),
});

const TESTS = {
  a: `test('a', async ({ page }) => { await page.goto('/'); await page.context().addCookies([{ name: 'a', value: '1', url: page.url() }]); });`,
  b: `test('b', async ({ page, context }) => { await page.goto('/'); expect((await context.cookies()).map(({ name }) => name)).toEqual(['visited']); });`,
  c: `test('c', async ({ page, context, browser }) => { await page.goto('/'); await context.newPage(); await (await browser.newBrowserCDPSession()).send('Target.createTarget', { url: 'about:blank#left' }); test.fail(); throw new Error('expected'); });`,
};

/** The pages of a browser. */
async function pagesOf(port: string): Promise<string[]> {
  const targets = (await (await fetch(`${port}/json/list`)).json()) as { type: string; url: string }[];
  return targets.filter(({ type }) => type === 'page').map(({ url }) => url);
}

test('POOLWRIGHT_CDP_URL: workers take turns on one browser, and leave it unchanged', async ({ runSuite, port }) => {
  await fetch(`${port}/json/new?data:text/html,mine`, { method: 'PUT' });
  const before = await pagesOf(port);
  const { output, record } = await runSuite({ tests: TESTS, args: ['--workers=2'], env: { POOLWRIGHT_CDP_URL: port } });
  expect(output).toContain(`poolwright: browsers that run at ${new URL(port).host}`);
  expect(output).toContain('3 passed');
  expect(output).not.toContain('/devtools/browser/');
  const { sessions, service, balance } = await record();
  expect({ service, balance }).toEqual({ service: 'browsers', balance: null });
  for (const session of sessions)
    expect(session).toMatchObject({ type: null, bandwidthBytes: null, endConfirmed: true });
  expect(sessions.flatMap(({ tests }) => tests)).toHaveLength(3);
  expect((await pagesOf(port)).sort()).toEqual(before.sort());
});

test('`browsers`: addresses without a browser cost no test, and are left out, said once each', async ({
  runSuite,
  port,
  nobody,
}) => {
  const other = `127.0.0.1:${await freePort()}`;
  const dead = `ws://${other}/?token=s3cret-word`;
  const { output, record } = await runSuite({
    tests: TESTS,
    options: `{ browsers: ${JSON.stringify([nobody, dead, port])} }`,
    args: ['--workers=1'],
    env: { POOLWRIGHT_API_KEY: '', POOLWRIGHT_BASE_URL: '' },
  });
  expect(output).toContain('3 passed');
  expect(output.split(`the browser at ${new URL(nobody).host} is left out: `)).toHaveLength(2);
  expect(output.split(`the browser at ${other} is left out: it accepts no CDP connection`)).toHaveLength(2);
  expect(output.match(/is left out: /g)).toHaveLength(2);
  const { sessions } = await record();
  expect(sessions.filter(({ endReason }) => endReason === 'connect-failed')).toHaveLength(1);
  expect(output + JSON.stringify(sessions)).not.toContain('s3cret-word');
});

test('`browsers`: a server that accepts connections and never responds costs one time limit, not one per test', {
  tag: '@slow',
}, async ({ runSuite }) => {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = [1, 2, 3, 4, 5].map((n) => `test('test ${n}', async ({ page }) => {});`);
  const { output } = await runSuite({
    tests: names.join('\n'),
    args: ['--workers=1'],
    env: { POOLWRIGHT_CDP_URL: `ws://${host}/?token=s3cret-word` },
    code: 1,
  });
  expect(output).toContain('5 failed');
  expect(output.match(/the browser at 127\.0\.0\.1:\d+ is left out: /g)).toHaveLength(1);
  expect(output).toContain(`No browser answers at ${host}. Start one`);
  expect(output).not.toContain('s3cret-word');
  // Of the first worker, and of the broker once in a while.
  expect(connections).toBeLessThanOrEqual(3);
  server.close();
});

test('hold, watching, films, shards and `reuse` work as on the service', async ({ startSuite, port }) => {
  const title = ownTitle('waits for a person');
  const run = await startSuite({
    options: `{ film: 'on', reuse: 'test' }`,
    tests: {
      a: `import { test } from 'poolwright';
        test('${title}', async ({ page, hostedSession }) => {
          await page.goto('data:text/html,<body style="background:red">');
          await hostedSession.hold('look');
        });
        test('goes on', async ({ page }) => { await page.goto('/'); });`,
      b: `test('in the other shard', async ({ page }) => { await page.goto('/'); });`,
    },
    args: ['--workers=1', '--shard=1/2'],
    env: { POOLWRIGHT_CDP_URL: port },
  });
  const watched = watchRun(title);
  try {
    await run.printed(/is on hold until/);
    await expect.poll(() => watched.slot()?.hold?.reason).toBe('look');
    watched.demand('small');
    await expect.poll(() => watched.pictures.at(-1)?.url).toContain('background:red');
    watched.run()?.release(watched.slot()?.slot ?? 0);
    expect((await run.exit).code, run.output()).toBe(0);
  } finally {
    await watched.close();
  }
  const { sessions, shard } = await recordOf(run.consumer);
  expect(shard).toEqual({ current: 1, total: 2 });
  // `reuse: 'test'`: a lease for each test, of the same browser.
  expect(sessions.map(({ tests }) => tests.length)).toEqual([1, 1]);
  expect(sessions.flatMap(({ tests }) => tests.flatMap(({ holds }) => holds))).toMatchObject([{ end: 'released' }]);
  const [held] = await reportedTests(run.consumer);
  expect(held?.results[0]?.attachments.map(({ name }) => name)).toContain('film');
  expect(await run.consumer.read('test-results/poolwright/timeline.html')).toContain(title);
});

test('one clear error before any test: no browser answers; what only the service has', async ({
  runSuite,
  port,
  nobody,
}) => {
  const none = await runSuite({ tests: TESTS, env: { POOLWRIGHT_CDP_URL: nobody }, code: 1 });
  expect(none.output).toContain(`No browser answers at ${nobody.slice(7)}. Start one`);
  expect(none.output).not.toContain('[1/');
  const env = { POOLWRIGHT_CDP_URL: port };
  const pool = await runSuite({ tests: TESTS, options: `{ pool: 'pool_e2e' }`, env, code: 1 });
  expect(pool.output).toContain(
    '`pool` (POOLWRIGHT_POOL) is for browsers of the service, and this run uses browsers that run already',
  );
});

test('a run that is killed leaves nothing open in them', async ({ startSuite, port }) => {
  const before = await pagesOf(port);
  const run = await startSuite({ tests: STAYS, args: ['--workers=1'], env: { POOLWRIGHT_CDP_URL: port } });
  await run.printed(/WORKER \d+/);
  expect(await pagesOf(port)).not.toEqual(before);
  process.kill(-(run.child.pid ?? 0), 'SIGKILL');
  await run.exit;
  await expect.poll(() => pagesOf(port)).toEqual(before);
});

test('doctor tries one of them', async ({ port, nobody }) => {
  const well = await poolwright(['doctor'], { POOLWRIGHT_CDP_URL: `${nobody},${port}` });
  expect(well.code, well.stdout).toBe(0);
  expect(well.stdout).toMatch(/warning browsers: the browser at 127\.0\.0\.1:\d+ is left out: /);
  expect(well.stdout).toMatch(/session: leased in \d+ ms, connected in \d+ ms, .*, a page in \d+ ms, released/);
  const none = await poolwright(['doctor'], { POOLWRIGHT_CDP_URL: nobody });
  expect(none.code).toBe(1);
  expect(none.stdout).toContain(`FAILED  browsers: No browser answers at ${nobody.slice(7)}. Start one`);
});
