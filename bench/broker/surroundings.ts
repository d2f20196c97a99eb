import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostedProject } from '../../src/broker/rpc/messages/protocol.ts';
import { type StartedBroker, startBroker } from '../../src/broker/start/started-broker.ts';
import { firstJsonLine } from '../../src/common/platform/streams.ts';

/** A real broker process with its ledger and its record on disk, and a service that answers at once. */
export interface BrokerSurroundings {
  broker: StartedBroker;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;

export async function startSurroundings(plan: HostedProject['plan'], workers: number): Promise<BrokerSurroundings> {
  const service = spawn(process.execPath, [fileURLToPath(new URL('./instant-service.js', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-bench-'));
  const stop = async () => {
    const exited = once(service, 'exit');
    service.stdin.end();
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const { baseURL } = (await firstJsonLine(service.stdout, START_TIMEOUT_MS)) as { baseURL: string };
    const broker = await startBroker({
      runId: 'bench',
      runner: 'playwright',
      service: { kind: 'hosted', baseURL, apiKey: 'pw_bench' },
      recordDirectory: join(directory, 'record'),
      workers,
      shard: null,
      name: 'bench',
      suite: 'bench0',
      ledgerDirectory: join(directory, 'ledger'),
      overRuns: [],
      projects: [{ id: '', name: '', plan }],
    });
    await broker.started();
    return {
      broker,
      stop: async () => {
        await broker.finish();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
