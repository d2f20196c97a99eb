import { setTimeout as delay } from 'node:timers/promises';
import { connectToBroker } from '../src/broker/rpc/client.ts';
import type { HostedProject } from '../src/broker/rpc/messages/protocol.ts';
import { startBroker } from '../src/broker/start/start.ts';
import type { StartedBroker } from '../src/broker/start/started-broker.ts';
import { errorMessage } from '../src/common/error-message.ts';

/** One shard of a run as its broker sees it: real broker process, real sockets, and workers that only hold browsers. */

export interface ShardOptions {
  baseURL: string;
  apiKey: string;
  shard: { current: number; total: number };
  workers: number;
  /** Test groups of the shard: what one worker runs in one go. */
  groups: number;
  /** ms of one group; drawn for each. */
  groupMs(): number;
  pool: string | null;
}

export interface ShardResult {
  /** ms each worker waited for its first browser. */
  waits: number[];
  /** ms from the first worker's start to the end of the last group. */
  took: number;
  /** Workers that got no browser. */
  failures: string[];
  /** Browsers that this shard had. */
  leases: number;
}

const ACQUIRE_TIMEOUT_MS = 900_000;
/**
 * Workers start within this time, in ms. If all did in one moment, the order in which this process starts them would
 * decide who gets the browsers, and a faster broker would look unfair.
 */
export const STARTS_WITHIN_MS = 1_000;

/** Starts the shard's broker; `run` then works through its groups. */
export async function startShard(options: ShardOptions): Promise<{ run(): Promise<ShardResult> }> {
  const { baseURL, apiKey, shard, workers, pool } = options;
  const plan: HostedProject['plan'] = {
    pool,
    fallback: 'fail',
    session: {},
    reuse: 'run',
    acquireTimeout: ACQUIRE_TIMEOUT_MS,
  };
  const broker = await startBroker({
    runId: 'sim',
    runner: 'playwright',
    service: { kind: 'hosted', baseURL, apiKey },
    recordDirectory: null,
    workers,
    shard,
    name: 'sim',
    suite: 'sim000',
    ledgerDirectory: null,
    overRuns: [],
    projects: [{ id: '', name: '', plan }],
  });
  await broker.started();
  return { run: () => work(broker, options) };
}

async function work(broker: StartedBroker, options: ShardOptions): Promise<ShardResult> {
  const { workers, groups, groupMs } = options;
  const since = Date.now();
  const waits: number[] = [];
  const failures: string[] = [];
  let next = 0;
  // As in Playwright, a worker has its group before it asks for a browser, and keeps the browser for the groups after.
  const worker = async (index: number) => {
    next += 1;
    await delay(STARTS_WITHIN_MS * Math.random());
    const line = await connectToBroker(broker.address, 'worker');
    const asked = Date.now();
    try {
      const { sessionId } = await line.lease({ project: '', parallelIndex: index, needMs: 10_000 });
      waits.push(Date.now() - asked);
      for (;;) {
        await delay(groupMs());
        if (next >= groups) break;
        next += 1;
      }
      await line.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false });
    } catch (error) {
      failures.push(errorMessage(error));
    } finally {
      line.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, groups) }, (_, index) => worker(index)));
  const took = Date.now() - since;
  const { sessions } = await broker.finish();
  return { waits, took, failures, leases: sessions.length };
}
