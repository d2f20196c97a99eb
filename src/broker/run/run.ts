import { join } from 'node:path';
import { traceTime } from '../../common/debug.ts';
import { smallestKnown } from '../../common/numbers/extremes.ts';
import { addressSecrets } from '../../common/text/shown-fields.ts';
import { proxySecrets } from '../../common/url/credentials.ts';
import { OptionsError } from '../../errors.ts';
import type { BrowserProvider, RunPools } from '../../providers/port.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { RunRecorder } from '../../record/run-recorder.ts';
import type { RecentRefusal } from '../acquire/recent-refusal.ts';
import type { RunIdentity } from '../browsers/session-note.ts';
import type { BrokerConfig } from '../config/config.ts';
import type { BrokerFeature } from '../feature.ts';
import type { Projects } from '../leases/projects.ts';
import { rememberLimits } from '../ledger/known-limits.ts';
import { Ledger, type LedgerOwner } from '../ledger/ledger.ts';
import { createLog, type Log } from '../log/log.ts';
import type { Terminal } from '../log/terminal.ts';
import { RunSweep } from '../recovery/run-sweep.ts';
import { systemIdentity } from '../recovery/system-identity.ts';
import type { LeaseService } from './lease-service.ts';
import { createLeasing } from './leasing.ts';
import { checkRun } from './run-checks.ts';
import { closeService, type RunService, sweptWorkspace } from './run-service.ts';
import type { StartDeadline } from './start-deadline.ts';

/** How long the run waits until its observer has taken the final output, in ms. */
const FLUSH_MS = 2_000;

/** The pools of a run on browsers of another provider, which has none. */
const NO_POOLS: RunPools = {
  resolve: async ({ pool }) => {
    if (pool === null) return null;
    throw new OptionsError(
      'pool',
      '`pool` (POOLWRIGHT_POOL): only the service has pools, and this run has other browsers.',
    );
  },
  deleteOwn: async () => [],
};

/** A broker that leases browsers. */
export interface BrokerRun {
  /** Fires when the runner hangs and therefore cannot end the run. */
  abandoned: AbortSignal;
  /** Gives every browser back, writes the record and closes everything. */
  close(): Promise<void>;
}

export interface BrokerHandlers {
  leases: LeaseService;
  recorder: Pick<RunRecorder, 'testUsed'>;
  provider: Pick<BrowserProvider, 'report'>;
  secrets: readonly string[];
  /** Prints a line in the terminal, once. */
  say(text: string): void;
  /** Ends the run: gives every browser back and writes the record. */
  finish(): Promise<RunRecord>;
  /** Called when a process has been silent for longer than allowed. A worker's connection is closed by then. */
  hangs(who: 'worker' | 'control', silentMs: number): void;
}

interface Beginning {
  start: StartDeadline;
  service: RunService;
  projects: Projects;
  terminal: Terminal;
  log: Log;
  overload: RecentRefusal;
  provider: BrowserProvider;
  features: readonly BrokerFeature[];
}

/** Runs the checks, then creates the parts of the broker in order. */
export async function startRun(
  config: BrokerConfig,
  beginning: Beginning,
): Promise<BrokerRun & { handlers: BrokerHandlers }> {
  const { start, service, projects, terminal, log, overload, provider, features } = beginning;
  const embedded = service.kind === 'hosted' ? service.embedded : undefined;
  const { workers } = config;
  const run = runIdentity(config, provider);
  const owner = ledgerOwner(config, service, run);
  const ledger = new Ledger(owner, log, run.now);
  const sweep = runSweep(config, beginning, run);
  const pools = provider.pools?.ofRun(run, ledger, workers, embedded !== undefined) ?? NO_POOLS;
  // Before the checks: the record begins with the run.
  const recorder = openRecorder(config, embedded?.chromiums ?? [], (error) =>
    log.error('run.json could not be written', error),
  );
  const { limit, balance, poolSizes, notices } = await checkRun({
    provider,
    start,
    sweep,
    lacksLedger: sweptWorkspace(service) !== null && owner === null,
    pools,
    plans: projects.plans,
    workers,
    // No other shard shares the run's own emulator.
    shard: embedded ? null : config.shard,
  });
  traceTime('broker', 'all is checked');
  // The run's own emulator is for this shard alone. A pool bounds only the workers that are chosen by its size.
  const sizes = config.workersChosen ? [...poolSizes.values()] : [];
  recorder.browsers = embedded ? null : smallestKnown([limit, ...sizes]);
  void rememberLimits(config.limitsFile ?? null, { concurrentBrowsers: limit, pools: poolSizes });
  const { leases, endAll } = createLeasing({
    provider,
    run,
    projects,
    pools,
    limit,
    ledger,
    log,
    refusals: overload,
    recorder,
    idleMs: config.idleMs,
    outwaits: config.workersChosen,
    serviceGone: embedded?.ended,
  });
  const finish = once(async () => {
    await Promise.all([endAll(), sweep?.end()]);
    const record = await recorder.end(await balanceOf(provider, balance));
    for (const feature of features) feature.runEnded();
    await terminal.flushed(FLUSH_MS);
    return record;
  });
  const secrets = secretsOf(config, service);
  for (const feature of features) {
    feature.runBegan({ slots: () => leases.slots(), tests: () => recorder.tests, secrets });
  }
  const say = (text: string) => log.once(text);
  const abandoned = new AbortController();
  const hangs: BrokerHandlers['hangs'] = (who, silentMs) => {
    const what = `has not shown a sign of life for ${Math.round(silentMs / 1000)} s`;
    if (who === 'worker') log.notice(`a worker ${what}: it counts as dead, and its browser is ended`);
    else {
      log.notice(`the runner ${what}: it counts as dead, and every browser is given back`);
      abandoned.abort();
    }
  };
  const handlers = { leases, recorder, provider, secrets, say, finish, hangs };
  const close = async () => {
    await finish();
    await closeService(provider, service);
  };
  // A replacement broker has no new notices: its predecessor has shown them.
  if (config.deadMarks.length === 0) for (const notice of notices) log.notice(notice);
  return { handlers, abandoned: abandoned.signal, close };
}

function openRecorder(
  config: BrokerConfig,
  chromiums: string[],
  onWriteError: (error: unknown) => void = () => undefined,
): RunRecorder {
  return new RunRecorder({
    runId: config.runId,
    runner: config.runner,
    service: config.service.kind,
    chromiums,
    shard: config.shard,
    recordDirectory: config.recordDirectory,
    isSuccessor: config.deadMarks.length > 0,
    onWriteError,
  });
}

/** Writes the record of a run that cannot begin, with the reason. */
export async function recordRefusal(config: BrokerConfig, reason: unknown): Promise<void> {
  const recorder = openRecorder(config, []);
  recorder.leaseFailed(reason);
  await recorder.end(null);
}

function secretsOf({ token, projects }: BrokerConfig, service: RunService): string[] {
  const proxies = projects.flatMap(({ plan: { pool, session } }) => [
    ...proxySecrets(session),
    ...(typeof pool === 'object' ? proxySecrets(pool?.create.browser ?? {}) : []),
  ]);
  const ofService =
    service.kind === 'hosted'
      ? [service.apiKey, ...addressSecrets(service.baseURL).slice(1)]
      : service.kind === 'browsers'
        ? service.browsers.flatMap(({ url }) => addressSecrets(url))
        : [];
  return [...ofService, token, ...new Set(proxies)];
}

export function openLog(config: BrokerConfig, service: RunService, terminal: Terminal): Log {
  const file = config.recordDirectory ? join(config.recordDirectory, 'broker.log') : null;
  return createLog({ file, terminal, secrets: secretsOf(config, service), debug: config.debug });
}

function runIdentity({ runId, shard, suite, mark }: BrokerConfig, provider: BrowserProvider): RunIdentity {
  return { runId, shard, suite, mark, now: () => provider.now() };
}

/** Null: no ledger is written. */
function ledgerOwner(
  { runId, address: socket, ledgerDirectory: directory }: BrokerConfig,
  service: RunService,
  { mark }: RunIdentity,
): LedgerOwner | null {
  const workspace = sweptWorkspace(service);
  if (!workspace || directory === null) return null;
  return { directory, content: { runId, mark, ...workspace, place: systemIdentity(), socket } };
}

/** Null if dead runs cannot have left anything: only this run uses the embedded emulator, say. */
function runSweep(
  { runId, suite, ledgerDirectory, overRuns, deadMarks, address }: BrokerConfig,
  { provider, log, service }: Beginning,
  { mark }: RunIdentity,
): RunSweep | null {
  const workspace = sweptWorkspace(service);
  if (!workspace) return null;
  const self = { mark, socket: address };
  const deadBrokers = deadMarks.map((dead) => ({ runId, mark: dead }));
  return new RunSweep({ provider, workspace, suite, ledgerDirectory, overRuns, deadBrokers, self }, log);
}

/** Returns a function that starts the work once and always returns the same promise. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}

/**
 * Returns the workspace's balance before and after a finished run; null if unknown.
 * @param startCents before the run; null: the service did not report it
 */
async function balanceOf(provider: BrowserProvider, startCents: number | null): Promise<RunRecord['balance']> {
  if (startCents === null) return null;
  const left = await provider.balance?.().catch(() => null);
  return left ? { startCents, endCents: left.cents } : null;
}
