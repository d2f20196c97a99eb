import { join } from 'node:path';
import type { Consumer } from '../support/e2e/consumer.ts';
import { expect, test } from '../support/e2e/fixtures.ts';
import { brokerOf, leftProcesses } from '../support/e2e/process-tree.ts';
import { startPlaywright } from '../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../support/e2e/suites.ts';
import { startEmulatorProcess } from '../support/emulator-process.ts';
import { send } from '../support/processes.ts';
import { poolwright } from '../support/run-cli.ts';

/**
 * A process that is stopped forever and closes no connection. It counts as dead: the run ends by itself and leaves
 * nothing. These tests wait for deadlines and do almost nothing meanwhile.
 */

test.use({ browsers: 'stub' });

/** Limit of a run in which a process hangs, in ms. */
const RUN_MS = 240_000;

/** Deadlines of a minute and more are divided by four; `node scripts/faults.mjs` also waits for their full length. */
const LENGTHS: { length: string; env: Record<string, string> }[] = [
  {
    length: '',
    env: {
      NODE_OPTIONS: `--require=${JSON.stringify(join(import.meta.dirname, '../support/faults/quick-broker.cjs'))}`,
    },
  },
  { length: ' (at full length @slow)', env: {} },
];

test.beforeEach(() => test.setTimeout(RUN_MS + 60_000));

/** The first attempt stays until it loses its browser; the next one passes. */
const STAYS_ONCE = suite(`
test('stays', async ({ page }, { retry }) => {
  test.setTimeout(0);
  await page.goto('about:blank');
  console.log('WORKER ' + process.pid);
  if (retry === 0) await page.waitForEvent('popup', { timeout: 0 });
});`);

const sessionsOf = async (consumer: Consumer) =>
  JSON.parse(await consumer.read('test-results/poolwright/run.json')).sessions;

test('a broker that hangs is killed and replaced: its browsers end, and the run continues', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(`{ pool: { create: {} } }`, 'retries: 1,'),
    'tests/a.spec.ts': STAYS_ONCE,
  });
  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  await run.printed(/WORKER \d+/);
  send(brokerOf(run.child.pid ?? 0), 'SIGSTOP');
  expect((await run.exit).code, run.output()).toBe(0);
  expect(run.output()).toContain('the broker of this run died (SIGKILL); another one takes over');
  expect(await service.running()).toEqual([]);
  expect(await service.client.listPools()).toEqual([]);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

test('a broker that hangs at the end of the run does not block the end', async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{}', `globalSetup: './setup.ts',`),
    'setup.ts': `
      import { readFileSync } from 'node:fs';
      const children = () => readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ');
      const isBroker = (pid: string) => readFileSync('/proc/' + pid + '/cmdline', 'utf8').startsWith('poolwright broker');
      export default () => () => children().filter(isBroker).forEach((pid) => process.kill(Number(pid), 'SIGSTOP'));`,
    'tests/a.spec.ts': suite(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`),
  });
  const run = startPlaywright(consumer, [], service.env);
  expect((await run.exit).code, run.output()).toBe(0);
  expect(run.output()).toContain('the broker of this run died (SIGKILL)');
  expect(await service.running()).toEqual([]);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

for (const { length, env } of LENGTHS) {
  test(`a worker that hangs loses its browser; the run ends once Playwright's worker is gone${length}`, async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig('{}', 'retries: 1,'),
      'tests/a.spec.ts': suite(`
        test('stays', async ({ page }, { retry }) => {
          await page.goto('about:blank');
          console.log('WORKER ' + process.pid);
          if (retry === 0) await page.waitForEvent('popup');
        });`),
    });
    const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...env });
    await run.printed(/WORKER \d+/);
    const worker = Number(/WORKER (\d+)/.exec(run.output())?.[1]);
    const [session] = await service.running();
    send(worker, 'SIGSTOP');
    await expect.poll(() => service.running(), { timeout: RUN_MS / 2 }).toEqual([]);
    await run.printed(/a worker has not shown a sign of life for \d+ s: it counts as dead/);
    // Playwright waits for its worker; a user or the end of a CI job kills it like this.
    send(worker, 'SIGKILL');
    expect((await run.exit).code, run.output()).toBe(0);
    expect((await sessionsOf(consumer))[0]).toMatchObject({ sessionId: session, endReason: 'worker-died' });
    expect(await service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });

  test(`a service that hangs does not block the end of the run, and its browsers are swept when it is back${length}`, async ({
    newConsumer,
  }) => {
    const emulator = await startEmulatorProcess({ browser: 'stub' });
    try {
      const consumer = await newConsumer();
      await consumer.write({
        'playwright.config.ts': wrappedConfig('{ acquireTimeout: 40_000 }', 'retries: 1,'),
        'tests/a.spec.ts': STAYS_ONCE,
      });
      const here = { POOLWRIGHT_BASE_URL: emulator.baseURL, POOLWRIGHT_API_KEY: emulator.apiKey };
      const run = startPlaywright(consumer, ['--workers=1'], { ...here, ...env });
      await run.printed(/WORKER \d+/);
      send(emulator.pid, 'SIGSTOP');
      expect((await run.exit).code, run.output()).toBe(1);
      expect(run.output()).toContain('No browser within 40 s');
      expect(run.output()).toContain('NOT CONFIRMED ENDED');
      await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
      send(emulator.pid, 'SIGCONT');
      const swept = await poolwright(['sweep'], here, consumer.directory);
      expect(swept.code, swept.stderr).toBe(0);
      const list = await poolwright(['sessions', 'list', '--json'], here, consumer.directory);
      expect(JSON.parse(list.stdout)).toEqual([]);
    } finally {
      send(emulator.pid, 'SIGCONT');
      await emulator.stop();
    }
  });
}
