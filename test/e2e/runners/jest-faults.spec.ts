import type { FaultRule } from 'poolwright/emulator';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { jestConfig, recordOf, runJest, startJest, testsOf } from '../../support/e2e/jest-runs.ts';
import { descendants, processesIn } from '../../support/e2e/process-tree.ts';
import { recordRequests } from '../../support/e2e/requests.ts';
import { startService, type TestService } from '../../support/e2e/service.ts';

/** Jest on a service that has no browser, or loses one: the user is told, nothing is asked for in vain, nothing is left. */

const test = base.extend<{ full: TestService }>({
  /** A service whose plan allows one browser. */
  full: async ({}, use) => {
    const service = await startService({ concurrentBrowsers: 1 });
    await use(service);
    await service.stop();
  },
});

const CREATE = { method: 'POST', path: '/v1/browser/session' } as const;
const ACQUIRE = { method: 'POST', path: '/v1/browser/pools/*/acquire' } as const;
const GOES = `test('goes', async () => { await page.goto(process.env.SITE_URL); });`;
const TWO_FILES = { 'a.test.js': GOES, 'b.test.js': GOES };

async function addFaults({ emulator }: TestService, faults: FaultRule[]): Promise<void> {
  const response = await fetch(`${emulator.baseURL}/__emulator/faults`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ faults }),
  });
  if (!response.ok) throw new Error(await response.text());
}

test('402: nobody asks again, and every file has the same error', async ({ newConsumer, service, site }) => {
  await addFaults(service, [{ match: CREATE, effect: { status: 402, body: { error: 'Insufficient balance' } } }]);
  const consumer = await newConsumer();
  await consumer.write({ ...jestConfig(), ...TWO_FILES, 'c.test.js': GOES });
  const requests = recordRequests();
  const run = await runJest(consumer, ['--maxWorkers=2'], { ...service.env, SITE_URL: site.url });
  requests.stop();
  expect(run.code, run.output).toBe(1);
  expect(
    run.output.match(/402 "Insufficient balance"\. The workspace is out of credit/g)?.length,
  ).toBeGreaterThanOrEqual(3);
  expect(requests.answered.filter(({ status }) => status === 402).length).toBeLessThanOrEqual(2);
  expect((await recordOf(consumer)).sessions).toEqual([]);
  expect(processesIn(consumer.folder)).toEqual([]);
});

test('403: at a limit of one, the second worker has the browser when the first one is done', async ({
  newConsumer,
  full,
  site,
}) => {
  const stays = `test('stays', async () => {
    await page.goto(process.env.SITE_URL);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
  });`;
  const consumer = await newConsumer();
  await consumer.write({ ...jestConfig({ testTimeout: 60_000 }), 'a.test.js': stays, 'b.test.js': stays });
  const requests = recordRequests();
  const run = await runJest(consumer, ['--maxWorkers=2'], { ...full.env, SITE_URL: site.url });
  requests.stop();
  expect(run.code, run.output).toBe(0);
  const creates = requests.answered.filter(({ method, path }) => method === CREATE.method && path === CREATE.path);
  expect(creates.map(({ status }) => status).sort()).toEqual([200, 403]);
  const tests = testsOf(await recordOf(consumer));
  expect(tests).toHaveLength(2);
  expect(new Set(tests.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(await full.running()).toEqual([]);
});

test('409 of a pool and 503: asked again, and the run goes on', async ({ newConsumer, service, site }) => {
  await service.client.createPool({ name: 'e2e', size: 1 });
  const busy = { error: 'No eligible node found', code: 'browser_capacity_unavailable' };
  const empty = { error: 'No browser is currently ready in this pool' };
  await addFaults(service, [
    { match: ACQUIRE, effect: { status: 503, body: busy, headers: { 'Retry-After': '1' } }, count: 1 },
    { match: ACQUIRE, effect: { status: 409, body: empty }, count: 2 },
  ]);
  const consumer = await newConsumer();
  await consumer.write({
    ...jestConfig(),
    ...TWO_FILES,
    'poolwright.config.mjs': `export default { pool: 'e2e', fallback: 'fail' };`,
  });
  const requests = recordRequests();
  const run = await runJest(consumer, ['-i'], { ...service.env, SITE_URL: site.url });
  requests.stop();
  expect(run.code, run.output).toBe(0);
  const refused = requests.answered.filter(({ path }) => path.endsWith('/acquire')).map(({ status }) => status);
  expect(refused).toEqual(expect.arrayContaining([503, 409, 409, 200]));
  const { sessions } = await recordOf(consumer);
  expect(sessions).toMatchObject([{ source: 'pool', testsServed: 2, workersServed: 2, endConfirmed: true }]);
});

test('SIGKILL of the browser: said as that, the rest of the file has a fresh one, and its session is ended', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    ...jestConfig({ testTimeout: 60_000 }),
    'a.test.js': `test('loses it', async () => {
      await page.goto(process.env.SITE_URL);
      console.log('READY');
      await page.waitForFunction('false', { timeout: 0 });
    });
    ${GOES}`,
  });
  const before = new Set(descendants(process.pid).map(({ pid }) => pid));
  const run = startJest(consumer, [], { ...service.env, SITE_URL: site.url });
  await run.printed(/READY/);
  const jest = new Set([run.child.pid, ...descendants(run.child.pid ?? 0).map(({ pid }) => pid)]);
  const browsers = descendants(process.pid).filter(
    ({ pid, command }) => !before.has(pid) && !jest.has(pid) && /chrom/.test(command) && !/--type=/.test(command),
  );
  expect(browsers).not.toEqual([]);
  for (const { pid } of browsers) process.kill(pid, 'SIGKILL');
  expect((await run.exit).code, run.output()).toBe(1);
  const [lost, next] = testsOf(await recordOf(consumer));
  expect(lost).toMatchObject({ title: 'loses it', status: 'failed', infrastructureFailure: expect.any(String) });
  expect(run.output()).toContain(`LeaseError: The hosted browser was lost during this test`);
  expect(next).toMatchObject({ title: 'goes', status: 'passed', infrastructureFailure: null });
  expect(next?.sessionId).not.toBe(lost?.sessionId);
  expect(await service.running()).toEqual([]);
  await expect.poll(() => processesIn(consumer.folder)).toEqual([]);
});
