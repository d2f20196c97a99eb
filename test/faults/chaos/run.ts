import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect } from '../../support/e2e/fixtures.ts';
import { leftProcesses, processesIn } from '../../support/e2e/process-tree.ts';
import type { RunningCommand } from '../../support/e2e/run-command.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { startEmulatorProcess } from '../../support/emulator-process.ts';
import { send } from '../../support/processes.ts';
import { poolwright } from '../../support/run-cli.ts';
import {
  browsersIn,
  doubtedRequests,
  leftAtService,
  leftInBrowsers,
  leftLedgers,
  leftOfEmulators,
  leftSockets,
  unconfirmed,
} from './checks.ts';
import { begun, strike } from './kill.ts';
import { harmOf, startNeighbour } from './neighbour.ts';
import { type Others, placeOthers } from './others.ts';
import type { ChaosPlan } from './plan.ts';
import { type ChaosService, runningSessions, startChaosService } from './service.ts';
import { writeSuite } from './suite.ts';
import { clockEnv, type SmallDisks, smallDisks } from './surroundings.ts';
import type { ChaosResult } from './tally.ts';

/** Timeout of one `playwright test`, in ms. On a browser that hangs, each test takes a minute: it connects twice. */
const RUN_MS = 420_000;
/**
 * How long the broker may take to give everything back after its run has died, in ms, including retries after faults.
 */
const SETTLE_MS = 90_000;
/** Lease time of the user's pool, in s. */
const LEASE_SECONDS = 60;
/** Timeout of one random run with all its checks, in ms. */
export const CHAOS_MS = RUN_MS + 5 * SETTLE_MS + LEASE_SECONDS * 1000;

/** What a random run needs, and its result. */
export interface ChaosRun {
  plan: ChaosPlan;
  consumer: Consumer;
  service: ChaosService;
  others: Others;
  disks: SmallDisks;
  /** The run's own temporary directory. */
  temporary: string;
  env: Record<string, string>;
  result: ChaosResult;
}

/**
 * Runs the plan in a consumer's directory, and expects that nothing of the run is left and nothing foreign is touched.
 * @param later registers cleanup work, which runs last-in first-out, however the run ends
 */
export async function runChaos(
  plan: ChaosPlan,
  consumer: Consumer,
  siteUrl: string,
  result: ChaosResult,
  later: (undo: () => unknown) => void,
): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'chaos-'));
  later(() => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 }));
  const service = await startChaosService(plan);
  later(() => service.stop());
  const others = await placeOthers(service.client, plan, LEASE_SECONDS);
  await writeSuite(consumer, plan);
  const disks = smallDisks(consumer, plan.disk);
  later(() => disks.unmount());
  const cache = resolve('node_modules/.cache/chaos-transform-cache');
  // A stub has no network that could reach a suite's own server.
  const site: Record<string, string> = plan.browser === 'chromium' ? { SITE_URL: siteUrl } : {};
  // For the neighbour and for `poolwright sweep`.
  const own: Record<string, string> = {
    ...(plan.source === 'provider' && { POOLWRIGHT_PROVIDER: 'browsers.ts' }),
    ...(plan.source === 'addresses' && { POOLWRIGHT_CDP_URL: others.addresses.join(',') }),
  };
  const env = { ...service.env, ...own, ...clockEnv(plan), ...site, TMPDIR: temporary, PWTEST_CACHE_DIR: cache };
  await service.addFaults();
  later(() => {
    for (const pid of processesIn(consumer.directory)) send(pid, 'SIGKILL'); // left by a failed run
  });
  await act({ plan, consumer, service, others, disks, temporary, env, result });
  await service.stop();
  await expectNone(result, 'left', () => leftOfEmulators(tmpdir(), service.pid), SETTLE_MS);
}

async function act(chaos: ChaosRun): Promise<void> {
  const { plan, consumer, service, others, disks, env, result } = chaos;
  const { neighbour: beside, disk } = plan;
  let neighbour = beside?.begins === 'before' ? startNeighbour(consumer, beside, env) : null;
  await neighbour?.printed(/NEIGHBOUR/);
  const run = startPlaywright(consumer, [`--workers=${plan.workers}`], env);
  result.output = () => [run, neighbour].map((each) => each?.output() ?? '').join('\n----- the neighbour:\n');
  const [struck] = await Promise.all([
    strike(run, plan, service.pid),
    begun(run, 1).then(() => {
      if (disk?.from === 'midway') disks.fill();
      if (beside?.begins === 'after') neighbour = startNeighbour(consumer, beside, env);
    }),
  ]);
  result.struck = struck;
  await expectEnd(run);
  if (neighbour) {
    await expectEnd(neighbour);
    const harmed = neighbour;
    await expectNone(result, 'touched', () => harmOf(consumer, harmed), 0);
  }
  await clearUp(chaos, struck);

  const isMachine = plan.death?.whom === 'machine';
  const left = async () => [
    ...(await leftAtService(service, others, plan.lists ? [] : doubtedRequests(consumer))),
    ...leftLedgers(consumer, plan.source === 'provider'),
    ...leftProcesses(consumer.directory),
    ...browsersIn(chaos.temporary, null),
    ...(isMachine ? [] : leftSockets(chaos.temporary)),
  ];
  await expectNone(result, 'left', left, SETTLE_MS + (mayLeaveLease(plan) ? LEASE_SECONDS * 1000 : 0));
  // After its service has died, a run cannot report any confirmed end.
  if (!serviceDied(plan, struck)) {
    const ends = serviceHung(plan, struck) ? [] : await unconfirmed(consumer);
    expect(ends, 'ends that were not confirmed').toEqual([]);
    await service.clearFaults();
    await expectNone(result, 'touched', others.touched, 0);
    await expectNone(result, 'left', () => leftInBrowsers(others.addresses), SETTLE_MS);
  }
  if (plan.source === 'embedded') await expectNoDirectories(chaos);
  if (!struck && plan.emulator.faults.length === 0 && !disk?.directories.includes('output')) {
    expect((await run.exit).code, 'exit code of the run').toBe(plan.files.flat().every(Boolean) ? 0 : 1);
  }
}

async function expectEnd(run: RunningCommand): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, RUN_MS, 'late');
  });
  const ended = await Promise.race([run.exit, late]);
  clearTimeout(timer);
  expect(ended, 'the run has an end').not.toBe('late');
}

/** Does what a user must do after some deaths: `poolwright sweep`, and restarting a dead service. */
async function clearUp(chaos: ChaosRun, struck: boolean): Promise<void> {
  const { plan, service, result } = chaos;
  const { death, disk } = plan;
  if (serviceHung(plan, struck)) {
    service.goOn();
    await expectSwept(chaos);
  }
  if (serviceDied(plan, struck)) {
    await expectNone(result, 'left', () => browsersIn(tmpdir(), service.pid), SETTLE_MS);
    await service.startAgain();
    await expectSwept(chaos);
  }
  const brokerDied = struck && (death?.whom === 'machine' || (death?.whom === 'broker' && isKill(plan)));
  if (struck && death?.whom === 'machine') await expectSwept(chaos);
  if (brokerDied && disk?.directories.includes('ledger')) await sweepByName(chaos);
}

/** The faults may affect a sweep too; it then reports this, and the next sweep does the rest. */
async function expectSwept({ env, consumer, result, plan }: ChaosRun, args: string[] = []): Promise<void> {
  result.judged = 'after poolwright sweep';
  const sweep = async () => {
    const { code, stdout, stderr } = await poolwright(['sweep', ...args], env, consumer.directory);
    // What is only doubted stays, and is named.
    const isDoubt = plan.source === 'provider' && `${stdout}${stderr}`.split('\n').every(isSweptOrDoubted);
    return code === 0 || isDoubt ? 'swept' : `${stdout}${stderr}`;
  };
  await expect.poll(sweep, { timeout: SETTLE_MS }).toBe('swept');
}

function isSweptOrDoubted(line: string): boolean {
  // Also what the provider prints.
  return /^$|^(ACQUIRED|RELEASED|stopped) |may have left one more browser \(its `acquire` had no result\)/.test(line);
}

/** Without a ledger, only the user's declaration shows that a run is dead. */
async function sweepByName(chaos: ChaosRun): Promise<void> {
  const { service, others, consumer } = chaos;
  await expect.poll(() => leftProcesses(consumer.directory), { timeout: SETTLE_MS }).toEqual([]);
  const runs = new Set<string>();
  for (const { sessionId, note } of await runningSessions(service.client)) {
    const runId = /poolwright run=(\S+)/.exec(note)?.[1];
    if (runId && !others.sessions.has(sessionId)) runs.add(runId);
  }
  // If a broker died before its browser had a note, the browser's pool identifies its run.
  for (const { name } of await service.client.listPools()) {
    const runId = /^poolwright-[0-9a-f]+-(.+)-[0-9a-f]+-\d+$/.exec(name)?.[1];
    if (runId && !others.pools.has(name)) runs.add(runId);
  }
  for (const runId of runs) await expectSwept(chaos, ['--run', runId]);
}

/** Expects that the next emulator removes what a killed one left in the temporary directory. */
async function expectNoDirectories({ temporary, result }: ChaosRun): Promise<void> {
  const next = await startEmulatorProcess({}, { TMPDIR: temporary });
  await next.stop();
  await expectNone(result, 'left', () => leftOfEmulators(temporary, null), SETTLE_MS);
}

/** Expects that a list becomes empty within a time limit, and records its last state for the tables. */
async function expectNone(
  result: ChaosResult,
  what: 'left' | 'touched',
  list: () => string[] | Promise<string[]>,
  timeout: number,
): Promise<void> {
  const look = async () => {
    result[what] = await list();
    return result[what];
  };
  if (timeout === 0) expect(await look()).toEqual([]);
  else await expect.poll(look, { timeout }).toEqual([]);
}

/** A process that hangs is killed by its runner. */
function isKill({ death }: ChaosPlan): boolean {
  return death?.blow === 'SIGKILL' || death?.blow === 'pause-kill' || death?.blow === 'hang';
}

/** Whether the service outside the run was killed; it then forgets everything. */
function serviceDied({ death, source }: ChaosPlan, struck: boolean): boolean {
  const lives = death?.blow === 'pause' || death?.blow === 'SIGINT' || death?.blow === 'hang';
  return struck && death?.whom === 'service' && source !== 'embedded' && !lives;
}

/** Whether the service outside the run was frozen. */
function serviceHung({ death, source }: ChaosPlan, struck: boolean): boolean {
  return struck && death?.whom === 'service' && source !== 'embedded' && death.blow === 'hang';
}

/**
 * Whether an unknown lease may remain: a broker that dies between its acquire and the response leaves one. On a user's
 * pool nothing distinguishes it from a foreign lease, and it ends with its lease time.
 */
function mayLeaveLease(plan: ChaosPlan): boolean {
  const { death, source } = plan;
  return source.startsWith('pool') && (death?.whom === 'machine' || (death?.whom === 'broker' && isKill(plan)));
}
