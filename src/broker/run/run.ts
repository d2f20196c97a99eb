import { join } from 'node:path';
import { traceTime } from '../../common/time-trace.ts';
import { LeaseError } from '../../errors.ts';
import { RunRecorder } from '../../record/run-recorder.ts';
import { ServiceClient } from '../../service/index.ts';
import type { RunIdentity } from '../browsers/run-identity.ts';
import { createRegistry } from '../leasing/lease-registry.ts';
import { Projects } from '../leasing/projects.ts';
import { PoolDirectory } from '../pools/pool-directory.ts';
import type { BrokerConfig } from '../process/config.ts';
import { createLog, type Log } from '../process/log.ts';
import { Terminal } from '../process/terminal.ts';
import { Ledger, type LedgerOwner, workspaceMark } from '../recovery/ledger.ts';
import { RunSweep } from '../recovery/run-sweep.ts';
import { systemIdentity } from '../recovery/system-identity.ts';
import { type BrokerHandlers, listen } from '../rpc/server.ts';
import { OverloadMemory } from './overload-memory.ts';
import { balanceOf } from './run-balance.ts';
import { checkRun } from './run-checks.ts';
import type { RunService } from './run-service.ts';
import { StartDeadline } from './start-deadline.ts';

/** How long who watches the run may take to hear its last words, in ms. */
const TOLD_MS = 2_000;

/** A broker that lends. */
export interface BrokerRun {
  /** Fires when the runner hangs: nobody will ask for the end of the run. */
  forsaken: AbortSignal;
  /** Gives every browser back, writes the record unless the runner has said that it did, and closes everything. */
  close(): Promise<void>;
}

/**
 * Starts the broker of a run: the socket, where everything waits, the client, then the checks that need no browser (key,
 * pools).
 * @param onItsWay the service, see `startService`
 * @param refused takes why it may not lend (OptionsError, ServiceError, EmulatorError, PoolwrightError `TIMEOUT`); until that is
 * settled, who asks for a browser goes on waiting: a worker is told by its runner that the run has ended
 * @returns null where it may not lend: nothing is left of it
 */
export async function runBroker(
  config: BrokerConfig,
  onItsWay: Promise<RunService>,
  refused: (why: unknown) => Promise<void>,
): Promise<BrokerRun | null> {
  const start = new StartDeadline(config.startTimeoutMs);
  const projects = new Projects(config.projects);
  const terminal = new Terminal();
  let begin: (handlers: BrokerHandlers) => void = () => undefined;
  let beginNot: (why: LeaseError) => void = () => undefined;
  const begun = new Promise<BrokerHandlers>((resolve, reject) => {
    begin = resolve;
    beginNot = reject;
  });
  begun.catch(() => undefined); // nobody may have asked
  const server = await listen(config.address, { token: config.token, projects, terminal, begun });
  traceTime('broker', 'listens');
  try {
    const service = await onItsWay;
    const log = openLog(config, service, terminal);
    const overload = new OverloadMemory(log);
    const client = openClient(service, overload, start);
    try {
      const { handlers, ...run } = await startRun(config, {
        start,
        service,
        projects,
        terminal,
        log,
        overload,
        client,
      });
      start.stop();
      begin(handlers);
      return { ...run, close: () => run.close().finally(() => server.close()) };
    } catch (error) {
      await closeService(client, service);
      throw error;
    }
  } catch (error) {
    start.stop();
    beginNot(new LeaseError('BROKER_FAILED', 'The poolwright broker of this run may lend no browser.'));
    await refused(error).finally(() => server.close());
    return null;
  }
}

/** What a run begins with. */
interface Beginning {
  start: StartDeadline;
  service: RunService;
  projects: Projects;
  terminal: Terminal;
  log: Log;
  overload: OverloadMemory;
  client: ServiceClient;
}

/** Checks what can be checked, then makes the parts of the broker in their order. */
async function startRun(config: BrokerConfig, beginning: Beginning): Promise<BrokerRun & { handlers: BrokerHandlers }> {
  const { start, service, projects, terminal, log, overload, client } = beginning;
  const { embedded } = service;
  const { workers } = config;
  const run = runIdentity(config, client);
  const owner = ledgerOwner(config, service, run);
  const ledger = new Ledger(owner, log, run.now);
  const sweep = runSweep(config, beginning, run);
  const pools = new PoolDirectory(client, run, ledger, workers);
  // Before the checks: the record begins when the run does.
  const recorder = new RunRecorder({
    runId: config.runId,
    runner: config.runner,
    service: config.service.kind,
    chromiums: embedded?.chromiums ?? [],
    shard: config.shard,
    recordFolder: config.recordFolder,
    onWriteError: (error) => log.error('run.json could not be written', error),
  });
  const { limit, balance, notices } = await checkRun({
    client,
    start,
    sweep,
    lacksLedger: !embedded && owner === null,
    pools,
    plans: projects.plans,
    workers,
    // An emulator of the run's own is shared with no other shard.
    shard: embedded ? null : config.shard,
  });
  traceTime('broker', 'all is checked');
  const registry = createRegistry({
    client,
    run,
    projects,
    pools,
    limit,
    ledger,
    log,
    trouble: () => overload.lately(),
    recorder,
    idleMs: config.idleMs,
    serviceGone: embedded?.ended,
  });
  const finish = once(async () => {
    await Promise.all([registry.endAll(), sweep?.end()]);
    const record = await recorder.end(await balanceOf(client, balance));
    await terminal.told(TOLD_MS);
    return record;
  });
  const secrets = secretsOf(config, service);
  const say = (text: string) => log.once(text);
  let isRecorded = false;
  const recorded = () => {
    isRecorded = true;
  };
  const forsaken = new AbortController();
  const hangs: BrokerHandlers['hangs'] = (who, silentMs) => {
    const what = `has not shown a sign of life for ${Math.round(silentMs / 1000)} s`;
    if (who === 'worker') log.notice(`a worker ${what}: it counts as dead, and its browser is ended`);
    else {
      log.notice(`the runner ${what}: it counts as dead, and every browser is given back`);
      forsaken.abort();
    }
  };
  const handlers = { registry, recorder, client, secrets, say, finish, recorded, hangs };
  const close = async () => {
    const record = await finish();
    if (!isRecorded) await recorder.write(record);
    await closeService(client, service);
  };
  // One that takes the place of another has nothing new to say.
  if (config.deadMarks.length === 0) for (const notice of notices) log.notice(notice);
  return { handlers, forsaken: forsaken.signal, close };
}

function secretsOf(config: BrokerConfig, { apiKey }: RunService): string[] {
  return [apiKey, config.token];
}

function openLog(config: BrokerConfig, service: RunService, terminal: Terminal): Log {
  const file = config.recordFolder ? join(config.recordFolder, 'broker.log') : null;
  return createLog({ file, terminal, secrets: secretsOf(config, service), debug: config.debug });
}

function openClient({ baseURL, apiKey }: RunService, overload: OverloadMemory, start: StartDeadline): ServiceClient {
  return new ServiceClient({
    baseURL,
    apiKey,
    sharedBackoff: true,
    onRetry: (retry) => {
      overload.saw(retry);
      start.saw(retry);
    },
  });
}

function runIdentity({ runId, shard, suite, mark }: BrokerConfig, client: ServiceClient): RunIdentity {
  return { runId, shard, suite, mark, now: () => client.now() };
}

/** Null: no ledger is written. The embedded emulator ends with its broker, and all its browsers with it. */
function ledgerOwner(
  { runId, address: socket, ledgerFolder: folder }: BrokerConfig,
  { baseURL, apiKey, embedded }: RunService,
  { mark }: RunIdentity,
): LedgerOwner | null {
  if (embedded || folder === null) return null;
  const workspace = workspaceMark(apiKey);
  return { folder, content: { runId, mark, baseURL, workspace, place: systemIdentity(), socket } };
}

/** Null where nothing of a dead run can be left: the embedded emulator is this run's alone. */
function runSweep(
  { runId, suite, ledgerFolder, overRuns, deadMarks, address }: BrokerConfig,
  { client, log, service }: Beginning,
  { mark }: RunIdentity,
): RunSweep | null {
  const { baseURL, apiKey, embedded } = service;
  if (embedded) return null;
  const self = { mark, socket: address };
  const deadBrokers = deadMarks.map((dead) => ({ runId, mark: dead }));
  return new RunSweep({ client, baseURL, apiKey, suite, ledgerFolder, overRuns, deadBrokers, self }, log);
}

async function closeService(client: ServiceClient, { embedded }: RunService): Promise<void> {
  await client.close();
  await embedded?.stop();
}

/** The same promise for everybody who asks. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}
