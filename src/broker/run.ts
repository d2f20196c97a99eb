import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ServiceClient } from '../service/index.ts';
import type { BrokerConfig } from './config.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';
import { LeaseRegistry } from './lease-registry.ts';
import { Ledger, type LedgerOwner, workspaceMark } from './ledger.ts';
import { createLog, type Log } from './log.ts';
import { OverloadMemory } from './overload-memory.ts';
import { preflight } from './preflight.ts';
import type { RunRecord } from './run-record.ts';
import { listen } from './server.ts';
import { type SweepOptions, sweep } from './sweep.ts';

/** Bound on the first call to the service, in ms: an address where nobody answers is said before the run begins. */
const CHECK_TIMEOUT_MS = 10_000;
/** Bound on stopping what dead runs left, in ms. */
const SWEEP_TIMEOUT_MS = 15_000;

/** A broker at work. */
export interface BrokerRun {
  /** The service's address, as it was found or started. */
  baseURL: string;
  /** What the user should know before the run begins, one line each. */
  notices: string[];
  /** Gives every browser back and writes the record; the same answer when called again. */
  finish(): Promise<RunRecord>;
  /** {@link finish}, then everything closed. */
  close(): Promise<void>;
}

/**
 * Starts the broker of a run: the embedded emulator where that is the service, the client, the checks that need no
 * browser (key, pools), then the socket.
 */
export async function runBroker(config: BrokerConfig): Promise<BrokerRun> {
  const startedAt = new Date().toISOString();
  const service = config.service.kind === 'emulator' ? await startEmulator(config) : config.service;
  const emulator = 'stop' in service ? service : null;
  const { baseURL, apiKey } = service;
  const secrets = [apiKey, config.token];
  const log = createLog(config.recordFolder ? join(config.recordFolder, 'broker.log') : null, secrets, config.debug);
  const overload = new OverloadMemory(log);
  const client = new ServiceClient({ baseURL, apiKey, sharedBackoff: true, onRetry: (retry) => overload.saw(retry) });
  const { runId, shard, suite, workers, overRuns, projects } = config;
  const run = { runId, shard, suite, mark: randomBytes(4).toString('hex') };
  // The embedded emulator ends with its broker, and all its browsers with it.
  const ledgerFolder = emulator ? null : config.ledgerFolder;
  const ledger = new Ledger(ledgerFolder === null ? null : ledgerOwner(config, ledgerFolder, service), log);
  const registry = new LeaseRegistry({ client, run, workers, projects, ledger, log, trouble: () => overload.lately() });

  let finished: Promise<RunRecord> | null = null;
  const finish = () => {
    finished ??= endRun(config, registry, startedAt, log);
    return finished;
  };

  let server: Server | null = null;
  const notices: string[] = [];
  const close = async () => {
    await finish();
    server?.close();
    await client.close();
    await emulator?.stop();
  };

  try {
    await client.listSessions({ pageSize: 1 }, { timeout: CHECK_TIMEOUT_MS });
    if (!emulator) notices.push(...(await sweepBefore({ client, baseURL, apiKey, suite, ledgerFolder, overRuns })));
    const plans = [];
    for (const { plan } of projects) {
      plans.push({ plan, pool: typeof plan.pool === 'string' ? await registry.checkPool(plan.pool) : null });
    }
    const { limit, warnings } = await preflight({
      client,
      workers,
      // An emulator of the run's own is shared with no other shard.
      shard: emulator ? null : shard,
      plans,
    });
    registry.gate.limit = limit;
    notices.push(...warnings);
    server = await listen(config.address, { registry, client, token: config.token, secrets, finish });
  } catch (error) {
    await client.close();
    await emulator?.stop();
    throw error;
  }
  return { baseURL, notices, finish, close };
}

function ledgerOwner(
  config: BrokerConfig,
  folder: string,
  { baseURL, apiKey }: { baseURL: string; apiKey: string },
): LedgerOwner {
  const { runId, address: socket } = config;
  return { folder, content: { runId, baseURL, workspace: workspaceMark(apiKey), host: hostname(), socket } };
}

/** Stops what dead runs of this project left. That it takes long, or fails, does not keep the run from beginning. */
async function sweepBefore(options: SweepOptions): Promise<string[]> {
  const swept = await sweep({ ...options, signal: AbortSignal.timeout(SWEEP_TIMEOUT_MS) });
  const lines: string[] = [];
  const runs = [...new Set(swept.stopped.map(({ runId }) => runId))].join(', ');
  if (swept.stopped.length > 0) lines.push(`stopped ${count(swept.stopped.length)} that a dead run left (${runs})`);
  for (const file of swept.setAside) {
    lines.push(`warning: ${file} is not a ledger of this version, or only half of one: set aside, not used`);
  }
  for (const failure of swept.failures) lines.push(`warning: ${failure}`);
  return lines;
}

/** Room for every worker and a handover; the run's own limit, so that the emulator is never why a run waits. */
async function startEmulator(config: BrokerConfig): Promise<EmbeddedEmulator> {
  const concurrentBrowsers = Math.max(10, config.workers * 2);
  return await startEmbeddedEmulator({ concurrentBrowsers, warmBrowserCap: 30, allowLoopback: true });
}

async function endRun(config: BrokerConfig, registry: LeaseRegistry, startedAt: string, log: Log): Promise<RunRecord> {
  await registry.endAll();
  const record: RunRecord = {
    schema: 1,
    runId: config.runId,
    service: config.service.kind,
    shard: config.shard,
    startedAt,
    endedAt: new Date().toISOString(),
    sessions: registry.records,
    leaseFailures: registry.failures,
  };
  if (config.recordFolder) {
    try {
      await writeRecord(config.recordFolder, record);
    } catch (error) {
      log.error('run.json could not be written', error);
    }
  }
  return record;
}

/** Written beside and moved into place: a crash leaves the last complete file. */
async function writeRecord(folder: string, record: RunRecord): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'run.json');
  await writeFile(`${file}.tmp`, `${JSON.stringify(record, null, 2)}\n`);
  await rename(`${file}.tmp`, file);
}

function count(browsers: number): string {
  return browsers === 1 ? '1 browser' : `${browsers} browsers`;
}
