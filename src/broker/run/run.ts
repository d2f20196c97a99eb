import { join } from 'node:path';
import { traceTime } from '../../common/time-trace.ts';
import { RunRecorder } from '../../record/run-recorder.ts';
import { redactText } from '../../redact.ts';
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
import { listen } from '../rpc/server.ts';
import { OverloadMemory } from './overload-memory.ts';
import { balanceOf } from './run-balance.ts';
import { checkRun } from './run-checks.ts';
import type { RunService } from './run-service.ts';
import { StartDeadline } from './start-deadline.ts';

/** How long who watches the run may take to hear its last words, in ms. */
const TOLD_MS = 2_000;

/** A broker at work. */
export interface BrokerRun {
  /** The service's address, as it was found or started. */
  baseURL: string;
  /** What the user should know before the run begins, one line each. */
  notices: string[];
  /** Gives every browser back, writes the record unless the runner has said that it did, and closes everything. */
  close(): Promise<void>;
}

/**
 * Starts the broker of a run: the client, the checks that need no browser (key, pools), then the socket.
 * @param onItsWay the service, see `startService`
 * @throws OptionsError, ServiceError, EmulatorError, PoolwrightError `TIMEOUT`: then nothing is left of it
 */
export async function runBroker(config: BrokerConfig, onItsWay: Promise<RunService>): Promise<BrokerRun> {
  const start = new StartDeadline(config.startTimeoutMs);
  try {
    const service = await onItsWay;
    traceTime('broker', 'the service is known');
    const terminal = new Terminal();
    const log = openLog(config, service, terminal);
    const overload = new OverloadMemory(log);
    const client = openClient(service, overload, start);
    try {
      return await startRun(config, { start, service, terminal, log, overload, client });
    } catch (error) {
      await closeService(client, service);
      throw error;
    }
  } finally {
    start.stop();
  }
}

/** What a run begins with. */
interface Beginning {
  start: StartDeadline;
  service: RunService;
  terminal: Terminal;
  log: Log;
  overload: OverloadMemory;
  client: ServiceClient;
}

/** Checks what can be checked, then makes the parts of the broker in their order, the socket last. */
async function startRun(config: BrokerConfig, beginning: Beginning): Promise<BrokerRun> {
  const { start, service, terminal, log, overload, client } = beginning;
  const { baseURL, embedded } = service;
  const { workers } = config;
  const run = runIdentity(config, client);
  const owner = ledgerOwner(config, service, run);
  const ledger = new Ledger(owner, log, run.now);
  const sweep = runSweep(config, beginning, run);
  const projects = new Projects(config.projects);
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
  const { address, token } = config;
  let isRecorded = false;
  const recorded = () => {
    isRecorded = true;
  };
  const handlers = { registry, projects, recorder, client, token, secrets, terminal, say, finish, recorded };
  const server = await listen(address, handlers);
  const close = async () => {
    const record = await finish();
    if (!isRecorded) await recorder.write(record);
    server.close();
    await closeService(client, service);
  };
  // The service's own words may be among them.
  return { baseURL, notices: notices.map((notice) => redactText(notice, secrets)), close };
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
