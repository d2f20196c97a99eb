import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { poolwright } from '../e2e/harness/command.ts';
import type { Consumer } from '../e2e/harness/consumer.ts';
import { expect, test } from '../e2e/harness/fixtures.ts';
import { brokersIn, processesIn } from '../e2e/harness/processes.ts';
import { type RunningPlaywright, startPlaywright } from '../e2e/harness/run-playwright.ts';
import { startService, type TestService } from '../e2e/harness/service.ts';
import { suite, wrappedConfig } from '../e2e/harness/suites.ts';
import { type ChaosPlan, chaosPlan } from './chaos-plan.ts';

/**
 * Short suites with random faults and random deaths. However a run ends, no browser is left alive and no end is left
 * unconfirmed. `CHAOS_RUNS` says how many; run n of `CHAOS_SEED` draws the same faults and deaths every time.
 */

const SEED = Number(process.env.CHAOS_SEED ?? 1);
const RUNS = Number(process.env.CHAOS_RUNS ?? 10);
/** Bound on one `playwright test`, in ms. */
const RUN_MS = 150_000;
/** What the broker may take to give everything back after its run has died, in ms, retries at faults included. */
const SETTLE_MS = 30_000;
/** Lease time of the pool, in s. */
const LEASE_SECONDS = 60;

for (let n = 1; n <= RUNS; n += 1) {
  const seed = SEED * 10_000 + n;
  test(`chaos run ${n} of CHAOS_SEED=${SEED}`, async ({ newConsumer }) => {
    test.setTimeout(RUN_MS + 4 * SETTLE_MS + LEASE_SECONDS * 1000);
    const plan = chaosPlan(seed);
    await test.info().attach('plan', { body: JSON.stringify(plan, null, 2), contentType: 'application/json' });
    const consumer = await newConsumer(plan.playwright);
    const service = await startService({ ...plan.emulator, browser: 'stub' });
    try {
      await service.client.createPool({ name: 'chaos', size: 2, leaseTimeoutSeconds: LEASE_SECONDS });
      await write(consumer, plan);
      const run = startPlaywright(consumer, [`--workers=${plan.workers}`], service.env);
      const told = () => `${JSON.stringify(plan)}\n${run.output()}`;
      await kill(run, plan);
      const ended = await Promise.race([run.exit, late(RUN_MS)]);
      expect(ended, `the run did not end\n${told()}`).not.toBe('late');
      if (plan.kill?.whom === 'machine') await expectSwept(consumer, service);
      const timeout = SETTLE_MS + (mayLeaveLease(plan) ? LEASE_SECONDS * 1000 : 0);
      await expect.poll(() => left(consumer, service), { timeout, message: told() }).toEqual([]);
      expect(await unconfirmed(consumer), told()).toEqual([]);
      if (!plan.kill && plan.emulator.faults?.length === 0) {
        expect((await run.exit).code, told()).toBe(plan.files.flat().every(Boolean) ? 0 : 1);
      }
    } finally {
      await service.stop();
    }
  });
}

async function write(consumer: Consumer, { files, options }: ChaosPlan): Promise<void> {
  const sources = files.map((tests, file) => {
    const bodies = tests.map(
      (passes, number) => `test('test ${number}', async ({ page }) => {
        console.log('AT ' + process.pid);
        await page.goto('about:blank');
        for (let n = 0; n < 5; n++) await page.evaluate('1 + 1');
        expect(1).toBe(${passes ? 1 : 2});
      });`,
    );
    return [`tests/${file}.spec.ts`, suite(bodies.join('\n'))] as const;
  });
  await consumer.write({
    'playwright.config.ts': wrappedConfig(options, 'timeout: 40_000,'),
    ...Object.fromEntries(sources),
  });
}

/** Kills whom the plan says once enough tests have begun; a run that is over before is left alone. */
async function kill(run: RunningPlaywright, plan: ChaosPlan): Promise<void> {
  if (!plan.kill) return;
  const { whom, afterTests } = plan.kill;
  try {
    await run.printed(new RegExp(`(AT \\d+[\\s\\S]*){${afterTests}}`));
  } catch {
    return; // it ended first
  }
  const runner = run.child.pid ?? 0;
  try {
    if (whom === 'ctrl-c') process.kill(-runner, 'SIGINT');
    else if (whom === 'runner') process.kill(runner, 'SIGKILL');
    else if (whom === 'broker') for (const broker of brokersIn(run.folder)) process.kill(broker, 'SIGKILL');
    else if (whom === 'worker') process.kill(Number(run.output().match(/AT (\d+)/)?.[1]), 'SIGKILL');
    else await killMachine(runner, run.folder);
  } catch (error) {
    // It has ended by itself in this moment.
    if (!/ESRCH/.test(String(error))) throw error;
  }
}

/** Runner, workers and broker at once: the runner is held, so that it does not replace its broker. */
async function killMachine(runner: number, folder: string): Promise<void> {
  process.kill(runner, 'SIGSTOP');
  for (const broker of brokersIn(folder)) process.kill(broker, 'SIGKILL');
  process.kill(-runner, 'SIGKILL');
  await expect.poll(() => brokersIn(folder)).toEqual([]);
}

/** The faults may spoil a sweep too; then it says so, and the next one does the rest. */
async function expectSwept(consumer: Consumer, service: TestService): Promise<void> {
  await expect
    .poll(async () => (await poolwright(['sweep'], service.env, consumer.folder)).code, { timeout: SETTLE_MS })
    .toBe(0);
}

/** What is alive or on the books: sessions, pools of the run, ledgers, processes. */
async function left(consumer: Consumer, { client, running }: TestService): Promise<string[]> {
  const folder = join(consumer.folder, 'node_modules/.cache/poolwright');
  const ledgers = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.ledger.json')) : [];
  try {
    const pools = (await client.listPools()).map(({ name }) => name).filter((name) => name !== 'chaos');
    return [...(await running()), ...pools, ...ledgers, ...processesIn(consumer.folder)].map(String);
  } catch (error) {
    return [`not known: ${String(error)}`]; // spoilt by a fault
  }
}

/**
 * A broker that dies between its acquire and the answer leaves a lease of which nobody knows: on a pool of the user's
 * nothing tells it from somebody else's, and it ends by its lease time.
 */
function mayLeaveLease({ kill, options }: ChaosPlan): boolean {
  return options.includes(`'chaos'`) && (kill?.whom === 'broker' || kill?.whom === 'machine');
}

async function unconfirmed(consumer: Consumer): Promise<string[]> {
  let text: string;
  try {
    text = await consumer.read('test-results/poolwright/run.json');
  } catch {
    return []; // it died before it could write one
  }
  const { endedAt, sessions } = JSON.parse(text) as {
    endedAt: string | null;
    sessions: { sessionId: string; endConfirmed: boolean | null }[];
  };
  if (endedAt === null) return []; // it died before its last word
  // Not known of those that a dead broker held: its ledger is what counts.
  return sessions.filter(({ endConfirmed }) => endConfirmed === false).map(({ sessionId }) => sessionId);
}

async function late(ms: number): Promise<'late'> {
  return await new Promise((resolve) => setTimeout(resolve, ms, 'late').unref());
}
