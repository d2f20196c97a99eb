import type { FullConfig } from '@playwright/test';
import { BROKER_VARIABLE, type BrokerAddress, brokerAddress } from '../broker/config.ts';
import { startBroker } from '../broker/start.ts';
import type { MergedOptions } from '../options/lease-plan.ts';
import { resolveService } from '../options/resolve-service.ts';
import { newRunId } from './run-id.ts';

let own: Promise<BrokerAddress> | null = null;

/**
 * The broker of this worker's run: the one that the global setup started, or, without it, one of the worker's own that
 * ends with it (the same path, for `test` from poolwright in a config without the wrapper).
 */
export async function brokerForWorker(options: MergedOptions, config: FullConfig): Promise<BrokerAddress> {
  const shared = process.env[BROKER_VARIABLE];
  if (shared) return brokerAddress.parse(JSON.parse(shared));
  own ??= startOwn(options, config);
  own.catch(() => {
    own = null;
  });
  return await own;
}

async function startOwn(options: MergedOptions, config: FullConfig): Promise<BrokerAddress> {
  const { pool, ...rest } = options;
  const broker = await startBroker({
    runId: newRunId(process.env),
    service: resolveService({ ...rest, pool: pool ?? undefined }, process.env),
    recordFolder: null,
    workers: 1,
    shard: config.shard,
    checkPools: typeof pool === 'string' ? [pool] : [],
  });
  return broker.address;
}
