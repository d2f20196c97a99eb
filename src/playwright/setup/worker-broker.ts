import { dirname } from 'node:path';
import type { FullConfig } from '@playwright/test';
import type { HostedProject } from '../../broker/rpc/protocol.ts';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { leasePlan, type MergedOptions } from '../../options/lease-plan.ts';
import { startOwnBroker } from '../../worker/own-broker.ts';

/** The project whose tests a worker runs. */
export interface WorkerProject {
  id: string;
  name: string;
  options: MergedOptions;
  /** Whether the config wrapper knows it; else its options are those of a test file or of a config without the wrapper. */
  wrapped: boolean;
}

/** Where a worker asks for browsers. */
export interface WorkerBrokerAddress {
  address: BrokerAddress;
  /** What the broker has to be told of the worker's project; undefined: it knows. */
  ownProject: HostedProject | undefined;
}

let own: Promise<BrokerAddress> | null = null;

/**
 * Whether the run that this process belongs to has begun. Its plans are made then, from the runner's environment:
 * a global setup that changes POOLWRIGHT_POOL reaches the workers, but no plan. A run that a test starts inherits the
 * broker's variable and is a run of its own.
 */
export function hasRunBegun(): boolean {
  const runner = sharedBrokerOf(process.env)?.runner;
  return runner === process.pid || runner === process.ppid;
}

/**
 * The broker of this worker's run: the one that the global setup started, or, without it, one of the worker's own that
 * ends with it (the same path, for `test` from poolwright in a config without the wrapper).
 */
export async function brokerForWorker(project: WorkerProject, config: FullConfig): Promise<WorkerBrokerAddress> {
  const { id, name, options, wrapped } = project;
  const shared = sharedBrokerOf(process.env);
  if (shared && wrapped && hasRunBegun()) return { address: shared, ownProject: undefined };
  const ownProject = { id, name, plan: leasePlan(options, process.env) };
  if (shared) return { address: shared, ownProject };
  own ??= startOwn(ownProject, options, config);
  own.catch(() => {
    own = null;
  });
  return { address: await own, ownProject: undefined };
}

async function startOwn(project: HostedProject, options: MergedOptions, config: FullConfig): Promise<BrokerAddress> {
  const folder = config.configFile ? dirname(config.configFile) : config.rootDir;
  const { address } = await startOwnBroker({ options, project, folder, shard: config.shard, runner: 'playwright' });
  return address;
}
