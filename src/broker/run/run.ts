import { randomBytes } from 'node:crypto';
import { traceTime } from '../../common/debug.ts';
import { deferred } from '../../common/deferred.ts';
import { smallestKnown } from '../../common/numbers/extremes.ts';
import { OptionsError } from '../../errors.ts';
import { openProvider } from '../../providers/open-provider.ts';
import type { BrowserProvider, RunPools } from '../../providers/port.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { RecentRefusal } from '../acquire/recent-refusal.ts';
import type { RunIdentity } from '../browsers/session-note.ts';
import type { BrokerConfig } from '../config/config.ts';
import type { BrokerFeature, BrokerFeatureModule } from '../feature.ts';
import { directoryClock } from '../ledger/directory-clock.ts';
import { rememberLimits } from '../ledger/known-limits.ts';
import { Ledger, type LedgerOwner } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import { Terminal } from '../log/terminal.ts';
import { noteRunner, removeLeftSockets } from '../recovery/left-sockets.ts';
import { RunSweep } from '../recovery/run-sweep.ts';
import { systemIdentity } from '../recovery/system-identity.ts';
import { runRefused } from '../rpc/messages/refusals.ts';
import { LeaseService } from '../server/lease-service.ts';
import { type BrokerHandlers, listen } from '../server/server.ts';
import { createLeasing } from './leasing.ts';
import { checkRun } from './run-checks.ts';
import { openLog, openRecorder, recordRefusal, secretsOf } from './run-output.ts';
import { closeService, type RunService, sweptWorkspace } from './run-service.ts';
import { StartDeadline } from './start-deadline.ts';

/** The features of a broker, one line each. They load with this file, before the broker has its run. */
const FEATURES: Readonly<Record<string, Promise<BrokerFeatureModule>>> = {
  watch: import('../watch/feature.ts'),
};

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

/**
 * Starts the broker of a run: first the socket, where all requests wait, then the client, then the checks that need no
 * browser (key, pools).
 * @param onItsWay the service, which may still be starting
 * @param refused reports why the run cannot start (OptionsError, ServiceError, EmulatorError, PoolwrightError
 * `TIMEOUT`). Until its promise settles, workers go on waiting for browsers; their runner ends them with the run.
 * @returns null if the run cannot start; everything is closed then
 */
export async function runBroker(
  config: BrokerConfig,
  onItsWay: RunService | Promise<RunService>,
  refused: (why: unknown) => Promise<void>,
): Promise<BrokerRun | null> {
  const start = new StartDeadline(config.startTimeoutMs);
  const terminal = new Terminal();
  const { promise: begun, resolve: begin, reject: beginNot } = deferred<BrokerHandlers>();
  begun.catch(() => undefined); // there may be no listener
  const features = (await Promise.all(Object.values(FEATURES))).map((feature) => feature.create(config));
  const observerToken = randomBytes(24).toString('base64url');
  const { address, token } = config;
  const server = await listen(address, { token, observerToken, features, terminal, begun });
  const onClose = features.map((feature) => feature.listens({ address, token: observerToken }));
  const stopListening = () => {
    for (const close of onClose) close();
    server.close();
  };
  traceTime('broker', 'listens');
  noteRunner(address);
  void removeLeftSockets();
  try {
    const service = await onItsWay;
    const log = openLog(config, service, terminal);
    const overload = new RecentRefusal(log);
    const provider = await openProvider(service, {
      onNote: (text) => log.notice(text),
      beatClock: directoryClock(config.ledgerDirectory),
      onRetry: (retry) => {
        overload.saw(retry);
        start.saw(retry);
      },
    });
    try {
      const parts = { start, service, terminal, log, overload, provider, features };
      const { handlers, abandoned, close } = await startRun(config, parts);
      start.stop();
      begin(handlers);
      return { abandoned, close: () => close().finally(stopListening) };
    } catch (error) {
      await closeService(provider, service);
      throw error;
    }
  } catch (error) {
    start.stop();
    beginNot(runRefused());
    await recordRefusal(config, error);
    await refused(error).finally(stopListening);
    return null;
  }
}

interface Beginning {
  start: StartDeadline;
  service: RunService;
  terminal: Terminal;
  log: Log;
  overload: RecentRefusal;
  provider: BrowserProvider;
  features: readonly BrokerFeature[];
}

/** Runs the checks, then creates the parts of the broker in order. */
async function startRun(config: BrokerConfig, beginning: Beginning): Promise<BrokerRun & { handlers: BrokerHandlers }> {
  const { start, service, terminal, log, overload, provider, features } = beginning;
  const embedded = service.kind === 'hosted' ? service.embedded : undefined;
  const { workers, projects } = config;
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
    plans: projects.map(({ plan }) => plan),
    workers,
    // No other shard shares the run's own emulator.
    shard: embedded ? null : config.shard,
  });
  traceTime('broker', 'all is checked');
  // The run's own emulator is for this shard alone. A pool bounds only the workers that are chosen by its size.
  const sizes = config.workersChosen ? [...poolSizes.values()] : [];
  recorder.browsers = embedded ? null : smallestKnown([limit, ...sizes]);
  void rememberLimits(config.limitsFile ?? null, { concurrentBrowsers: limit, pools: poolSizes });
  const { parts, endAll } = createLeasing({
    provider,
    run,
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
  const leases = new LeaseService({ projects, ...parts });
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
