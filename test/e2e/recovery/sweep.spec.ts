import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { sessionNote } from '../../../src/broker/browsers/session-note.ts';
import { parseLedger } from '../../../src/broker/ledger/ledger-file.ts';
import { projectDirectory } from '../../../src/options/project-directory.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf } from '../../support/e2e/process-tree.ts';
import { runPlaywright, startPlaywright } from '../../support/e2e/run-playwright.ts';
import type { TestService } from '../../support/e2e/service.ts';
import { STAYS, suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { isRunning } from '../../support/processes.ts';
import { requires, UNSHARE } from '../../support/requires.ts';
import { CLI } from '../../support/run-cli.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';

/** The next run, or `poolwright sweep`, gives back everything that a dead machine left, and nothing else. */

test.use({ browsers: 'stub' });

const SHORT = `test('short', async ({ page }) => { await page.goto('about:blank'); });`;

/** What a run remembers of the service's limits, and of how long tests take, lies beside them. */
const ledgers = (consumer: Consumer) =>
  readdirSync(join(consumer.directory, 'node_modules/.cache/poolwright')).filter(
    (name) => !/^(limits|timings)-/.test(name),
  );

/** Starts a run whose runner and broker die at the same moment, as when a machine dies. */
async function deadRun(consumer: Consumer, service: TestService, env: Record<string, string> = {}, workers = 1) {
  const run = startPlaywright(consumer, [`--workers=${workers}`], { ...service.env, ...env });
  await run.printed(new RegExp(`(WORKER \\d+[^]*){${workers}}`));
  const runner = run.child.pid ?? 0;
  const broker = brokerOf(runner);
  process.kill(runner, 'SIGSTOP'); // otherwise it would replace its broker
  process.kill(broker, 'SIGKILL');
  process.kill(-runner, 'SIGKILL');
  await run.exit;
  await expect.poll(() => isRunning(broker)).toBe(false);
}

/** Sweeps in a container that shares the checkout and the host name with a live run, but not its sockets. */
async function expectAliveInContainer(consumer: Consumer, service: TestService, kept: string): Promise<void> {
  const [ledger = ''] = ledgers(consumer);
  const written = readFileSync(join(consumer.directory, 'node_modules/.cache/poolwright', ledger), 'utf8');
  const hidden = dirname(parseLedger(written)?.socket ?? '');
  const [unshare, ...user] = UNSHARE;
  const script = 'mount -t tmpfs none "$0" && exec "$@"';
  const sweep = [process.execPath, CLI, 'sweep', '--json'];
  const container = ['--mount', '--propagation', 'private', 'sh', '-c', script, hidden, ...sweep];
  const swept = await promisify(execFile)(unshare, [...user, ...container], {
    env: { ...process.env, ...service.env },
    cwd: consumer.directory,
  });
  expect(JSON.parse(swept.stdout)).toMatchObject({ stopped: [], alive: [{ sessionId: kept }] });
  expect(await service.running()).toEqual([kept]);
  expect(ledgers(consumer)).toEqual([ledger]);
}

/** The temporary directory of a machine: runs have the directories of their sockets there. */
function aTemporaryDirectory() {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'pw-'));
  return {
    TMPDIR,
    ofSockets: () => readdirSync(TMPDIR).filter((name) => /^poolwright-\w{6}$/.test(name)),
    remove: () => rmSync(TMPDIR, { recursive: true }),
  };
}

test('sweep › ends the sessions, leases and pools that a dead run left, and removes its directory', async ({
  newConsumer,
  service,
}) => {
  const { TMPDIR, ofSockets, remove } = aTemporaryDirectory();
  await service.client.createPool({ name: 'e2e', size: 1 });
  const consumer = await newConsumer();
  const projects = ['{}', `{ pool: 'e2e' }`, '{ pool: { create: { size: 1 } } }'];
  await consumer.write({
    'playwright.config.ts': wrappedConfig(
      '{}',
      `projects: [${projects.map((hosted, n) => `{ name: 'p${n}', use: { hosted: ${hosted} } }`)}],`,
    ),
    'tests/a.spec.ts': STAYS,
  });
  await deadRun(consumer, service, { TMPDIR }, projects.length);
  expect(ofSockets()).toHaveLength(1);
  const left = await service.running();
  expect(left).toHaveLength(3);
  for (const sessionId of left) {
    const { note } = await service.client.getSession(sessionId);
    expect(note).toMatch(
      /^poolwright run=local-\w+ shard=1\/1 project=p\d slot=\d req=\S+ suite=[0-9a-f]{6} beat=\w+$/,
    );
  }
  const foreign = await service.client.createSession({ note: 'somebody else poolwright run=1' });

  const swept = await poolwright(['sweep', '--json'], { ...service.env, TMPDIR }, consumer.directory);
  expect(ofSockets()).toEqual([]);
  remove();
  expect(swept, swept.stderr).toMatchObject({ code: 0, stderr: '' });
  const result = JSON.parse(swept.stdout);
  expect(result).toMatchObject({ alive: [], setAside: [], failures: [] });
  expect(result.stopped.map(({ sessionId }: { sessionId: string }) => sessionId).sort()).toEqual(left.sort());
  expect(result.poolsDeleted).toHaveLength(1);
  expect((await service.client.listPools()).map(({ name }) => name)).toEqual(['e2e']);
  expect(await service.running()).toEqual([foreign.sessionId]);
  expect(ledgers(consumer)).toEqual([]);
  const again = await poolwright(['sweep'], service.env, consumer.directory);
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect(again.stdout).toContain('nothing left behind');
});

test('sweep › keeps a live run even in a container', async ({ newConsumer, service }) => {
  requires('unshare');
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/stays.spec.ts': STAYS });
  const alive = startPlaywright(consumer, [], service.env);
  await alive.printed(/WORKER \d+/);
  const [kept = ''] = await service.running();
  await expectAliveInContainer(consumer, service, kept);
  process.kill(-(alive.child.pid ?? 0), 'SIGINT');
  await alive.exit;
  expect(await service.running()).toEqual([]);
});

test('the next run › sweeps at its start, keeps live runs, and sets aside invalid ledgers', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(),
    'tests/stays.spec.ts': STAYS,
    'tests/short.spec.ts': suite(SHORT),
  });
  const { TMPDIR, ofSockets, remove } = aTemporaryDirectory();
  const env = { ...service.env, TMPDIR };
  const args = ['stays', '--output=alive'];
  const alive = startPlaywright(consumer, args, env);
  await alive.printed(/WORKER \d+/);
  const kept = await service.running();
  expect(kept).toHaveLength(1);
  const ofAlive = ofSockets();
  expect(ofAlive).toHaveLength(1);
  await deadRun(consumer, service, { TMPDIR });
  expect(ofSockets()).toHaveLength(2);
  expect(await service.running()).toHaveLength(2);
  const foreign = await service.client.createSession({ note: 'mine' });
  const entry = { request: 'x-1', poolId: null, leaseId: null, sessionId: foreign.sessionId };
  const future = { schema: 2, runId: 'r', entries: [entry] };
  await consumer.write({
    'node_modules/.cache/poolwright/a.ledger.json': JSON.stringify(future),
    'node_modules/.cache/poolwright/b.ledger.json': JSON.stringify({ ...future, schema: 1 }).slice(0, 40),
  });
  const survive = [...kept, foreign.sessionId].sort();

  const next = await runPlaywright(consumer, ['short'], env);
  expect(next.code, next.output).toBe(0);
  expect(ofSockets()).toEqual(ofAlive);
  expect(next.output).toMatch(/stopped 1 browsers? that a dead run left \(local-\w+\)/);
  for (const name of ['a', 'b'])
    expect(next.output).toMatch(new RegExp(`warning: .*${name}\\.ledger\\.json\\.bad is not a ledger of this version`));
  expect((await service.running()).sort()).toEqual(survive);
  const swept = await poolwright(['sweep'], env, consumer.directory);
  expect(swept.stdout).toMatch(new RegExp(`left ${kept[0]}: run local-\\w+ may be alive`));
  expect(swept.stdout + swept.stderr).not.toContain('ledger.json');
  expect((await service.running()).sort()).toEqual(survive);
  process.kill(-(alive.child.pid ?? 0), 'SIGINT');
  await alive.exit;
  expect(await service.running()).toEqual([foreign.sessionId]);
  expect(ledgers(consumer).sort()).toEqual(['a.ledger.json.bad', 'b.ledger.json.bad']);
  remove();
});

test('a retried CI run › sweeps its earlier attempt, and another run only by name', async ({
  newConsumer,
  service,
}) => {
  // Machines of one CI: they share no ledger.
  const [lost, other, next] = [await newConsumer(), await newConsumer(), await newConsumer()];
  const files = {
    'playwright.config.ts': wrappedConfig(),
    'tests/stays.spec.ts': STAYS,
    'tests/short.spec.ts': suite(SHORT),
  };
  for (const consumer of [lost, other, next]) await consumer.write(files);
  const ci = (run: string, attempt: string) => ({ GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt });
  await deadRun(other, service, ci('9', '1'));
  const ofOther = await service.running();
  await deadRun(lost, service, ci('8', '1'));

  const retried = await runPlaywright(next, ['short'], { ...service.env, ...ci('8', '2') });
  expect(retried.output).toContain('stopped 1 browser that a dead run left (gh-8.1)');
  expect(await service.running()).toEqual(ofOther);
  await poolwright(['sweep'], service.env, next.directory);
  expect(await service.running()).toEqual(ofOther);
  await poolwright(['sweep', '--run', 'gh-9.1'], service.env, next.directory);
  expect(await service.running()).toEqual([]);
});

test('without a ledger › sweep ends long silent runs of this project, by their notes', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  const { suite: ours } = projectDirectory(consumer.directory);
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const note = (runId: string, suite: string, beat: Date) =>
    sessionNote({ runId, shard: null, project: '', slot: 0, request: `${runId}-1`, suite, beat }, undefined);
  const create = async (text: string) => (await service.client.createSession({ note: text })).sessionId;
  const silent = await create(note('silent', ours, minutesAgo(25)));
  const alive = await create(note('alive', ours, minutesAgo(8)));
  const theirs = await create(note('theirs', 'ffffff', minutesAgo(55)));

  const swept = await poolwright(['sweep', '--json'], service.env, consumer.directory);
  expect(swept.code, swept.stderr).toBe(0);
  expect(JSON.parse(swept.stdout)).toMatchObject({
    stopped: [{ sessionId: silent, runId: 'silent' }],
    alive: [{ sessionId: alive, runId: 'alive' }],
    failures: [],
  });
  expect((await service.running()).sort()).toEqual([alive, theirs].sort());
});

/** Half of it is enough on a quiet machine. */
const WORKER_WAITS_MS = 30_000;

test('a broker that dies › is replaced at once, and leaves nothing after the last one', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  const loses = (n: number) => `
      test('loses its broker, ${n}', async ({ page }) => {
        await page.goto('about:blank');
        console.log('WORKER ' + process.pid + ' of test ${n}.');
        await page.waitForEvent('popup', { timeout: ${n < 4 ? 0 : 2_000} });
      });`;
  await consumer.write({
    'playwright.config.ts': wrappedConfig(),
    'tests/a.spec.ts': suite([1, 2, 3, 4].map(loses).join('')),
  });
  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  const signals = ['SIGTERM', 'SIGKILL', 'SIGKILL', 'SIGKILL'] as const;
  let died = 0;
  for (const [n, signal] of signals.entries()) {
    await run.printed(new RegExp(`of test ${n + 1}\\.`));
    // On a busy machine, too: the time that a new worker waits for a broker.
    if (died > 0) expect(Date.now() - died, run.output()).toBeLessThan(WORKER_WAITS_MS);
    process.kill(brokerOf(run.child.pid ?? 0), signal);
    died = Date.now();
  }
  const { code } = await run.exit;
  expect(code).toBe(1);
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    expect(run.output()).toContain(`the broker of this run died (${signal}); another one takes over`);
  }
  expect(run.output()).toMatch(/poolwright: stopped 1 browser that a dead run left/);
  expect(await service.running()).toEqual([]);
  expect(ledgers(consumer)).toEqual([]);
});
