import { dirname } from 'node:path';
import type { FullConfig } from '@playwright/test';
import { BROKER_VARIABLE, type BrokerAddress, brokerAddress } from '../../broker/process/config.ts';
import { startBroker } from '../../broker/process/start.ts';
import { leasePlan, type MergedOptions } from '../../options/lease-plan.ts';
import { projectFolder } from '../../options/project-folder.ts';
import { resolveService } from '../../options/resolve-service.ts';
import { earlierAttempts, newRunId } from './run-id.ts';

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
  const { suite, ledgerFolder } = projectFolder(config.configFile ? dirname(config.configFile) : config.rootDir);
  const broker = await startBroker({
    runId: newRunId(process.env),
    service: resolveService({ ...rest, pool: pool ?? undefined }, process.env),
    recordFolder: null,
    workers: 1,
    shard: config.shard,
    suite,
    ledgerFolder,
    overRuns: earlierAttempts(process.env),
    projects: [{ name: '', plan: leasePlan(options, process.env) }],
  });
  for (const notice of broker.notices) process.stderr.write(`poolwright: ${notice}\n`);
  return broker.address;
}
