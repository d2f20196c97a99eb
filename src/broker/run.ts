import { mkdir, rename, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { ServiceClient } from '../service/index.ts';
import type { BrokerConfig } from './config.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';
import { LeaseRegistry } from './lease-registry.ts';
import { createLog, type Log } from './log.ts';
import type { RunRecord } from './run-record.ts';
import { listen } from './server.ts';

/** Bound on the first call to the service, in ms: an address where nobody answers is said before the run begins. */
const CHECK_TIMEOUT_MS = 10_000;

/** A broker at work. */
export interface BrokerRun {
  /** The service's address, as it was found or started. */
  baseURL: string;
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
  const client = new ServiceClient({
    baseURL,
    apiKey,
    onRetry: (retry) => log.info(`asking again: ${JSON.stringify(retry)}`),
  });
  const { runId, shard, workers } = config;
  const registry = new LeaseRegistry({ client, runId, shard, workers, log });

  let finished: Promise<RunRecord> | null = null;
  const finish = () => {
    finished ??= endRun(config, registry, startedAt, log);
    return finished;
  };

  let server: Server | null = null;
  const close = async () => {
    await finish();
    server?.close();
    await client.close();
    await emulator?.stop();
  };

  try {
    await client.listSessions({ pageSize: 1 }, { timeout: CHECK_TIMEOUT_MS });
    for (const pool of config.checkPools) await registry.checkPool(pool);
    server = await listen(config.address, { registry, client, token: config.token, secrets, finish });
  } catch (error) {
    await client.close();
    await emulator?.stop();
    throw error;
  }
  return { baseURL, finish, close };
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
