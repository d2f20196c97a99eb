import { join } from 'node:path';
import { test as base, expect } from '../support/e2e/fixtures.ts';
import { descendants } from '../support/e2e/process-tree.ts';
import { startRelay, type TestRelay } from '../support/e2e/relay.ts';
import type { RunningCommand } from '../support/e2e/run-command.ts';
import { reportedTests, startPlaywright } from '../support/e2e/run-playwright.ts';
import { wrappedConfig } from '../support/e2e/suites.ts';
import { send } from '../support/processes.ts';
import { slowIf } from '../support/property-runs.ts';

/** A process is killed, or hangs, while a test uses its browser through a relay: nothing of the lease remains. */

/** The relays of a test. */
const test = base.extend<{ newRelay(): Promise<TestRelay> }>({
  browsers: 'stub',
  newRelay: async ({}, use) => {
    const relays: TestRelay[] = [];
    await use(async () => {
      const relay = await startRelay();
      relays.push(relay);
      return relay;
    });
    for (const relay of relays) {
      send(relay.pid, 'SIGCONT');
      await relay.stop();
    }
  },
});

const STAYS = `
import { test } from 'poolwright';
test('stays', async ({ page, hostedSession }, testInfo) => {
  await page.goto('about:blank');
  console.log(['READY', testInfo.project.name, process.pid, hostedSession.sessionId, 'READY'].join(' '));
  await page.waitForEvent('popup', { timeout: 0 });
});`;

/** The broker's deadlines pass four times as fast. */
const QUICK_BROKER = `--require=${JSON.stringify(join(import.meta.dirname, '../support/faults/quick-broker.cjs'))}`;

const READY = /READY (.*) (\d+) (\S+) READY/;
const LOST = /The hosted browser was lost during this test/;
const SILENT = /did not respond for 15 s/;

/** Returns the worker and the session of a project whose test is ready. */
function readyIn(run: RunningCommand, project: string): { worker: number; sessionId: string } {
  const all = [...run.output().matchAll(new RegExp(READY, 'g'))];
  const [, , worker, sessionId = ''] = all.find(([, name]) => name === project) ?? [];
  return { worker: Number(worker), sessionId };
}

/** Runs a test for each project, with these options, until each has a page. */
async function startProjects(
  { newConsumer, service }: Pick<Parameters<Parameters<typeof test>[2]>[0], 'newConsumer' | 'service'>,
  relay: TestRelay,
  projects: Record<string, object>,
) {
  const consumer = await newConsumer();
  const configs = Object.entries(projects).map(([name, hosted]) => ({ name, use: { hosted } }));
  await consumer.write({
    'playwright.config.ts': wrappedConfig('{}', `timeout: 100_000, projects: ${JSON.stringify(configs)},`),
    'tests/a.spec.ts': STAYS,
  });
  const run = startPlaywright(consumer, [`--workers=${configs.length}`], { ...service.env, ...relay.env });
  await run.printed(new RegExp(`(${READY.source}[^]*){${configs.length}}`));
  /** Returns what a project's report says about its test, once the run has ended. */
  const ended = async () => {
    expect((await run.exit).code, run.output()).toBe(1);
    const tests = await reportedTests(consumer);
    return Object.fromEntries(
      tests.map(({ project, results }) => [
        project,
        (results[0]?.errors ?? []).map(({ message }) => message).join('\n'),
      ]),
    );
  };
  return { run, ended };
}

/** Returns the processes of a relay's leases. */
function leasesOf(relay: TestRelay): number[] {
  const all = descendants(relay.pid).filter(({ command }) => command.startsWith('poolwright relay: lease'));
  return all.map(({ pid }) => pid);
}

test('leaves nothing of a lease whose worker or process is killed, or hangs, or whose browser ends', async ({
  newConsumer,
  newRelay,
  service,
}) => {
  const relay = await newRelay();
  const projects = { 'worker killed': {}, 'browser stopped': {}, one: {}, other: {} };
  const { run, ended } = await startProjects({ newConsumer, service }, relay, projects);
  await expect.poll(() => leasesOf(relay)).toHaveLength(4);
  expect(send(readyIn(run, 'worker killed').worker, 'SIGKILL')).toBe(true);
  await expect.poll(() => leasesOf(relay)).toHaveLength(3);
  await service.client.stopSession(readyIn(run, 'browser stopped').sessionId);
  await expect.poll(() => leasesOf(relay)).toHaveLength(2);
  const [killed = 0, hung = 0] = leasesOf(relay);
  expect(send(killed, 'SIGKILL')).toBe(true);
  expect(send(hung, 'SIGSTOP')).toBe(true);

  const { 'browser stopped': stopped, one, other } = await ended();
  expect(stopped).toContain('it was stopped early');
  for (const said of [one, other]) expect(said).toMatch(LOST);
  expect([one, other].filter((said) => SILENT.test(said ?? ''))).toHaveLength(1);
  expect(await service.running()).toEqual([]);
  await expect.poll(() => relay.left()).toEqual([]);
});

test('leaves nothing when a relay is killed, hangs, or is killed with its leases', async ({
  newConsumer,
  newRelay,
  service,
}) => {
  const [killed, hung, dead] = [await newRelay(), await newRelay(), await newRelay()];
  const by = ({ env }: TestRelay) => ({ relay: env.POOLWRIGHT_RELAY });
  const projects = { killed: by(killed), hung: by(hung), dead: by(dead) };
  const { ended } = await startProjects({ newConsumer, service }, killed, projects);
  expect(send(killed.pid, 'SIGKILL')).toBe(true);
  expect(send(hung.pid, 'SIGSTOP')).toBe(true);
  expect(dead.left()).toContainEqual(expect.stringMatching(/^poolwright-relay-/));
  const tree = descendants(dead.pid).map(({ pid }) => pid);
  for (const pid of tree) send(pid, 'SIGSTOP');
  for (const pid of [dead.pid, ...tree]) send(pid, 'SIGKILL');

  const said = await ended();
  expect(said.killed).toMatch(LOST);
  expect(said.hung).toMatch(SILENT);
  expect(await service.running()).toEqual([]);
  for (const relay of [killed, hung]) await expect.poll(() => relay.left()).toEqual([]);

  // Its processes could not remove it; the next relay does, which may be another test's.
  await newRelay();
  expect(dead.left()).toEqual([]);
});

// To the relay, it is a browser that ends; to the broker, a worker without a relay (hangs.spec.ts).
test('leaves nothing when the worker hangs', slowIf(true), async ({ newConsumer, newRelay, service }) => {
  const relay = await newRelay();
  const consumer = await newConsumer();
  await consumer.write({
    // A worker may be silent for as long as a test may take.
    'playwright.config.ts': wrappedConfig('{}', 'timeout: 10_000,'),
    'tests/a.spec.ts': STAYS,
  });
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env, NODE_OPTIONS: QUICK_BROKER });
  await run.printed(READY);
  const { worker } = readyIn(run, '');
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
