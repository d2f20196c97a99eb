import { createServer, type Socket } from 'node:net';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf, leftProcesses } from '../../support/e2e/process-tree.ts';
import { runPlaywright, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { slowIf } from '../../support/property-runs.ts';

/** The broker's process starts when the config is read. If no run follows, none is left, and nothing is printed. */

const OPENS = suite(`test('opens', async ({ page }) => { await page.goto('about:blank'); console.log('RAN'); });`);

test.use({ browsers: 'stub' });

/** A config with code after the wrapper, where its process already has `children`. */
const goingOn = (code: string, more = '') => `
import { readFileSync } from 'node:fs';
const children = () => readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ').filter(Boolean);
const title = (pid: string) => readFileSync('/proc/' + pid + '/cmdline', 'utf8');
const isBroker = (pid: string) => title(pid).startsWith('poolwright broker');
const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
${wrappedConfig('{}', more)}
${code}`;

test('an early broker › ends when the runner is killed before its run begins', async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': goingOn(
      `while (!children().some(isBroker)) sleep(20); console.log('READ'); sleep(60_000);`,
    ),
    'tests/a.spec.ts': OPENS,
  });
  const run = startPlaywright(consumer, [], service.env);
  await run.printed(/READ/);
  expect(brokerOf(run.child.pid ?? 0)).toBeGreaterThan(0);
  process.kill(run.child.pid ?? 0, 'SIGKILL');
  await run.exit;
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  expect(run.output()).not.toContain('poolwright');
});

test('an early broker › ends when the config throws', async ({ runSuite }) => {
  const run = await runSuite({
    tests: OPENS,
    files: {
      'playwright.config.ts': goingOn(`while (!children().some(isBroker)) sleep(20); throw new Error('no config');`),
    },
    code: 1,
  });
  expect(run.output).toContain('no config');
  expect(run.output).not.toContain('poolwright broker');
  await expect.poll(() => leftProcesses(run.consumer.directory)).toEqual([]);
});

for (const version of ['latest', 'oldest'] as const) {
  test(
    `an early broker › starts only when a hosted project runs: Playwright ${version}`,
    slowIf(version === 'oldest'),
    async ({ newConsumer, service }) => {
      const consumer = await newConsumer(version);
      await consumer.write({
        'playwright.config.ts': goingOn(
          `if (process.argv[2] === 'test') console.log('CHILDREN ' + children().length);`,
          `projects: [{ name: 'hosted' }, { name: 'local', use: { hosted: false } }],`,
        ),
        'tests/a.spec.ts': suite(`test('needs no browser', () => undefined);`),
      });
      const startsIn = async (...args: string[]) => {
        const run = await runPlaywright(consumer, args, service.env);
        expect(run.code, run.output).toBe(0);
        return run.output.match(/CHILDREN \d+/g);
      };
      expect(await startsIn('--list')).toEqual(['CHILDREN 0']);
      expect(await startsIn('--project=local')).toEqual(['CHILDREN 0']);
      expect(await startsIn('--project=hosted')).toEqual(['CHILDREN 1']);
      await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    },
  );
}

test('a run › ends at once after Ctrl-C while the service does not respond', async ({ newConsumer }) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as import('node:net').AddressInfo;
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': OPENS });
  const env = { POOLWRIGHT_BASE_URL: `http://127.0.0.1:${port}`, POOLWRIGHT_API_KEY: 'some-key' };
  const run = startPlaywright(consumer, [], env);
  await run.printed(/Running 1 test/);
  await expect.poll(() => sockets.size).toBeGreaterThan(0);
  process.kill(-(run.child.pid ?? 0), 'SIGINT');
  expect((await run.exit).code).toBe(130);
  // A test that has begun may fail without its broker. The check's own timeout would print a ServiceError.
  expect(run.output()).not.toMatch(/RAN|ServiceError|SERVICE_/);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
