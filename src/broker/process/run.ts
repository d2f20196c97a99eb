import { randomBytes } from 'node:crypto';
import type { Server } from 'node:net';
import { join } from 'node:path';
import type { RunRecord } from '../../record/run-record.ts';
import { RunRecorder } from '../../record/run-recorder.ts';
import { redactText } from '../../redact.ts';
import { type RetryInfo, ServiceClient } from '../../service/index.ts';
import { LeaseRegistry } from '../leasing/lease-registry.ts';
import { Ledger, type LedgerOwner, workspaceMark } from '../recovery/ledger.ts';
import { RunSweep } from '../recovery/run-sweep.ts';
import { systemIdentity } from '../recovery/system-identity.ts';
import { listen } from '../rpc/server.ts';
import type { BrokerConfig } from './config.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';
import { createLog } from './log.ts';
import { OverloadMemory } from './overload-memory.ts';
import { preflight } from './preflight.ts';
import { balanceOf } from './run-balance.ts';
import { SaidOnce } from './said-once.ts';
import { StartDeadline } from './start-deadline.ts';
import { Terminal } from './terminal.ts';

/** Bound on the first call to the service, in ms: an address where nobody answers is said before the run begins. */
const CHECK_TIMEOUT_MS = 10_000;

/** How long who watches the run may take to hear its last words, in ms. */
const TOLD_MS = 2_000;

const NO_LEDGER =
  "warning: no ledger of this run is kept: the project has no node_modules, and neither the home folder nor the one in the temporary folder is this user's alone. After a crash, browsers are found by their notes only";

/** A broker at work. */
export interface BrokerRun {
  /** The service's address, as it was found or started. */
  baseURL: string;
  /** What the user should know before the run begins, one line each. */
  notices: string[];
  /** Gives every browser back, then closes everything; writes the record, unless the run has said that it did. */
  close(): Promise<void>;
}

/**
 * Starts the broker of a run: the embedded emulator where that is the service, the client, the checks that need no
 * browser (key, pools), then the socket.
 */
export async function runBroker(config: BrokerConfig): Promise<BrokerRun> {
  const start = new StartDeadline(config.startTimeoutMs);
  try {
    return await startRun(config, start);
  } finally {
    start.stop();
  }
}

async function startRun(config: BrokerConfig, start: StartDeadline): Promise<BrokerRun> {
  const service = config.service.kind === 'emulator' ? await startEmulator(config) : config.service;
  const emulator = 'stop' in service ? service : null;
  const { baseURL, apiKey } = service;
  const secrets = [apiKey, config.token];
  const terminal = new Terminal();
  const file = config.recordFolder ? join(config.recordFolder, 'broker.log') : null;
  const log = createLog({ file, terminal, secrets, debug: config.debug });
  const overload = new OverloadMemory(log);
  const onRetry = (retry: RetryInfo) => {
    overload.saw(retry);
    start.saw(retry);
  };
  const client = new ServiceClient({ baseURL, apiKey, sharedBackoff: true, onRetry });
  const { runId, shard, suite, workers, overRuns, projects } = config;
  const run = { runId, shard, suite, mark: randomBytes(4).toString('hex'), now: () => client.now() };
  // The embedded emulator ends with its broker, and all its browsers with it.
  const ledgerFolder = emulator ? null : config.ledgerFolder;
  const ledger = new Ledger(
    ledgerFolder === null ? null : ledgerOwner(config, run.mark, ledgerFolder, service),
    log,
    run.now,
  );
  const self = { mark: run.mark, socket: config.address };
  const sweeping = emulator
    ? null
    : new RunSweep({ client, baseURL, apiKey, suite, ledgerFolder, overRuns, self }, log);
  const recorder = new RunRecorder({
    runId,
    service: config.service.kind,
    chromiums: emulator?.chromiums ?? [],
    shard,
    recordFolder: config.recordFolder,
    onWriteError: (error) => log.error('run.json could not be written', error),
  });
  const trouble = () => overload.lately();
  const registry = new LeaseRegistry({ client, run, workers, projects, ledger, log, trouble, recorder });

  let startCents: number | null = null;
  const endRun = async () => {
    await Promise.all([registry.endAll(), sweeping?.end()]);
    const record = await recorder.end(await balanceOf(client, startCents));
    await terminal.told(TOLD_MS);
    return record;
  };
  let finished: Promise<RunRecord> | null = null;
  const finish = () => {
    finished ??= endRun();
    return finished;
  };

  let server: Server | null = null;
  const notices: string[] = [];
  let isRecorded = false;
  const close = async () => {
    const record = await finish();
    if (!isRecorded) await recorder.write(record);
    server?.close();
    await client.close();
    await emulator?.stop();
  };

  try {
    const first = { timeout: CHECK_TIMEOUT_MS };
    await start.step('the service to answer', (signal) => client.listSessions({ pageSize: 1 }, { ...first, signal }));
    if (sweeping) notices.push(...(await sweeping.begin()));
    if (!emulator && ledgerFolder === null) notices.push(NO_LEDGER);
    const find = (pool: string) => start.step(`the service to find pool ${pool}`, () => registry.checkPool(pool));
    const plans = [];
    for (const { plan } of projects) {
      plans.push({ plan, pool: typeof plan.pool === 'string' ? await find(plan.pool) : null });
    }
    const { limit, balance, warnings } = await preflight({
      client,
      workers,
      // An emulator of the run's own is shared with no other shard.
      shard: emulator ? null : shard,
      plans,
    });
    registry.gate.limit = limit;
    startCents = balance;
    notices.push(...warnings);
    const said = new SaidOnce(log);
    const say = (text: string) => said.say(text);
    server = await listen(config.address, {
      registry,
      recorder,
      client,
      token: config.token,
      secrets,
      terminal,
      say,
      finish,
      recorded: () => {
        isRecorded = true;
      },
    });
  } catch (error) {
    await client.close();
    await emulator?.stop();
    throw error;
  }
  // The service's own words may be among them.
  return { baseURL, notices: notices.map((notice) => redactText(notice, secrets)), close };
}

function ledgerOwner(
  config: BrokerConfig,
  mark: string,
  folder: string,
  { baseURL, apiKey }: { baseURL: string; apiKey: string },
): LedgerOwner {
  const { runId, address: socket } = config;
  return {
    folder,
    content: { runId, mark, baseURL, workspace: workspaceMark(apiKey), place: systemIdentity(), socket },
  };
}

/** Room for every worker and a handover; the run's own limit, so that the emulator is never why a run waits. */
async function startEmulator(config: BrokerConfig): Promise<EmbeddedEmulator> {
  const concurrentBrowsers = Math.max(10, config.workers * 2);
  return await startEmbeddedEmulator({ concurrentBrowsers, warmBrowserCap: 30 });
}
