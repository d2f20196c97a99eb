import { join } from 'node:path';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { descendants } from '../../support/e2e/process-tree.ts';
import { startRelay, type TestRelay } from '../../support/e2e/relay.ts';
import { reportedTests, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { wrappedConfig } from '../../support/e2e/suites.ts';
import { send } from '../../support/processes.ts';

/** A process is killed, or hangs, while a test uses its browser through a relay: nothing of the lease remains. */

const test = base.extend<{ relay: TestRelay }>({
  browsers: 'shell',
  relay: async ({}, use) => {
    const relay = await startRelay();
    await use(relay);
    send(relay.pid, 'SIGCONT');
    await relay.stop();
  },
});

const STAYS = `
import { test } from 'poolwright';
test('stays', async ({ page, hostedSession }) => {
  await page.goto('about:blank');
  console.log('READY ' + process.pid + ' ' + hostedSession.sessionId + ' READY');
  await page.waitForSelector('never');
});`;

interface Running {
  worker: number;
  relay: number;
  lease: number;
}

/** The broker's deadlines pass four times as fast. */
const QUICK_BROKER = `--require=${join(import.meta.dirname, '../../support/faults/quick-broker.cjs')}`;

const LOST = /The hosted browser was lost during this test/;

/** Each way, and what the test's report says about it; null: its worker cannot say anything. */
const WAYS: [name: string, act: (running: Running) => boolean, says: RegExp | null][] = [
  ['the worker is killed', ({ worker }) => send(worker, 'SIGKILL'), null],
  ['the relay is killed', ({ relay }) => send(relay, 'SIGKILL'), LOST],
  ['the process of the lease is killed', ({ lease }) => send(lease, 'SIGKILL'), LOST],
  ['the relay hangs', ({ relay }) => send(relay, 'SIGSTOP'), /did not respond for 15 s/],
  ['the process of the lease hangs', ({ lease }) => send(lease, 'SIGSTOP'), /did not respond for 15 s/],
];

for (const [name, act, says] of WAYS) {
  test(`leaves nothing when ${name}`, async ({ newConsumer, relay, service }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig('{}', 'timeout: 100_000,'),
      'tests/a.spec.ts': STAYS,
    });
    const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env });
    await run.printed(/READY \d+ \S+ READY/);
    const worker = Number(/READY (\d+)/.exec(run.output())?.[1]);
    const lease = descendants(relay.pid).find(({ command }) => command.startsWith('poolwright relay: lease'))?.pid ?? 0;
    expect(lease).toBeGreaterThan(0);
    expect(act({ worker, relay: relay.pid, lease })).toBe(true);

    expect((await run.exit).code).toBe(1);
    const [stays] = await reportedTests(consumer);
    const said = (stays?.results[0]?.errors ?? []).map(({ message }) => message).join('\n');
    if (says) expect(said).toMatch(says);
    expect(await service.running()).toEqual([]);
    await expect.poll(() => relay.left()).toEqual([]);
  });
}

test('leaves nothing when the worker hangs', async ({ newConsumer, relay, service }) => {
  const consumer = await newConsumer();
  await consumer.write({
    // A worker may be silent for as long as a test may take.
    'playwright.config.ts': wrappedConfig('{}', 'timeout: 10_000,'),
    'tests/a.spec.ts': STAYS,
  });
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env, NODE_OPTIONS: QUICK_BROKER });
  await run.printed(/READY \d+ \S+ READY/);
  const worker = Number(/READY (\d+)/.exec(run.output())?.[1]);
  expect(relay.left()).not.toEqual([]);
  expect(send(worker, 'SIGSTOP')).toBe(true);
  // The broker ends the browser, and so the relay its lease, while the worker is still stopped.
  await run.printed(/a worker has not shown a sign of life for \d+ s: it counts as dead/);
  await expect.poll(() => service.running()).toEqual([]);
  await expect.poll(() => relay.left()).toEqual([]);
  // Playwright waits for its worker.
  send(worker, 'SIGKILL');
  expect((await run.exit).code).toBe(1);
});

test('removes at its next start what a relay left that was killed with its lease', async ({
  newConsumer,
  relay,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': STAYS });
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env });
  await run.printed(/READY \d+ \S+ READY/);
  const tree = descendants(relay.pid).map(({ pid }) => pid);
  for (const pid of tree) send(pid, 'SIGSTOP');
  for (const pid of [relay.pid, ...tree]) send(pid, 'SIGKILL');
  expect((await run.exit).code).toBe(1);
  expect(await service.running()).toEqual([]);
  expect(relay.left()).toHaveLength(1);
  const next = await startRelay();
  expect(relay.left()).toEqual([]);
  await next.stop();
});

test('ends its lease when the browser ends', async ({ newConsumer, relay, service }) => {
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': STAYS });
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env });
  await run.printed(/READY \d+ \S+ READY/);
  await service.client.stopSession(/READY \d+ (\S+) READY/.exec(run.output())?.[1] ?? '');
  expect((await run.exit).code).toBe(1);
  const [stays] = await reportedTests(consumer);
  expect(stays?.results[0]?.errors.map(({ message }) => message).join('\n')).toContain('it was stopped early');
  await expect.poll(() => relay.left()).toEqual([]);
});
