import { dirname } from 'node:path';
import type { FullConfig, WorkerInfo } from '@playwright/test';
import type { HostedProject } from '../../../broker/rpc/messages/protocol.ts';
import { type BrokerAddress, sharedBrokerOf } from '../../../broker/rpc/shared-broker.ts';
import type { SuiteAddresses } from '../../../options/expose-network.ts';
import { leasePlan, type MergedOptions } from '../../../options/lease-plan.ts';

/** The project whose tests a worker runs. */
export interface WorkerProject {
  id: string;
  name: string;
  options: MergedOptions;
  /**
   * Whether the config wrapper knows it. Otherwise its options come from a test file, or a config without the wrapper.
   */
  wrapped: boolean;
}

/** The broker that provides a worker's browsers. */
export interface WorkerBrokerAddress {
  address: BrokerAddress;
  /** The project to send to the broker; undefined if the broker knows it. */
  ownProject: HostedProject | undefined;
}

let startedBroker: Promise<BrokerAddress> | null = null;

/**
 * Whether the run of this process has begun. The lease plans are made at that time, from the runner's environment: when
 * a global setup changes POOLWRIGHT_POOL, the workers see it, but the plans do not change. A run that a test starts
 * inherits the broker's variable but is a separate run.
 */
export function hasRunBegun(): boolean {
  const runner = sharedBrokerOf(process.env)?.runner;
  return runner === process.pid || runner === process.ppid;
}

/**
 * Returns the broker of this worker's run: the one that the global setup started, or else one that this worker starts
 * and that ends with it. The latter is for the `test` of poolwright in a config without the wrapper.
 */
export async function brokerForWorker(project: WorkerProject, config: FullConfig): Promise<WorkerBrokerAddress> {
  const { id, name, options, wrapped } = project;
  const shared = sharedBrokerOf(process.env);
  if (shared && wrapped && hasRunBegun()) return { address: shared, ownProject: undefined };
  const ownProject = { id, name, plan: leasePlan(options, process.env) };
  if (shared) return { address: shared, ownProject };
  startedBroker ??= startOwn(ownProject, options, config);
  startedBroker.catch(() => {
    startedBroker = null;
  });
  return { address: await startedBroker, ownProject: undefined };
}

/** Where the servers of a worker's suite are. */
export function suiteOf({ project, config }: WorkerInfo): SuiteAddresses {
  // Playwright passes the address of a `webServer` that has only a port in this variable.
  const baseURL = project.use.baseURL ?? process.env.PLAYWRIGHT_TEST_BASE_URL;
  return { baseURL, webServer: config.webServer };
}

async function startOwn(project: HostedProject, options: MergedOptions, config: FullConfig): Promise<BrokerAddress> {
  const directory = config.configFile ? dirname(config.configFile) : config.rootDir;
  // Loaded here, because most workers use their run's broker.
  const { startBrokerWith } = await import('../../../broker/start/started-broker.ts');
  const { shard } = config;
  const { broker } = await startBrokerWith({ options, projects: [project], directory, shard, runner: 'playwright' });
  await broker.started();
  return broker.address;
}
