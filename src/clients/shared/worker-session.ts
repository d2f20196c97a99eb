import { type BrokerClient, brokerClient } from '../../broker/rpc/client.ts';
import type { HostedProject, LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import type { FeatureSettings } from '../../features/feature.ts';
import type { Connection } from './connection/connect-through.ts';
import type { ConnectionEvents } from './connection/leased-connection.ts';
import { WorkerBrowser, type WorkerBrowserOptions } from './worker-browser.ts';
import { WorkerFeatures } from './worker-features.ts';

/** What one worker has: the browser that it leases, and the connection to its run's broker. */
export interface WorkerSession<Connected extends Connection<unknown>> {
  readonly broker: BrokerClient;
  readonly hosted: WorkerBrowser<Connected>;
  readonly features: WorkerFeatures;
}

/** The worker, its broker, and how it connects. */
export interface WorkerSessionOptions<Connected extends Connection<unknown>>
  extends Omit<WorkerBrowserOptions<Connected>, 'broker' | 'clock' | 'connect'> {
  address: BrokerAddress;
  /** Settings of the features that are on. */
  features: FeatureSettings;
  /** A project that the run's broker does not know. */
  ownProject?: HostedProject | undefined;
  /** Connects to a leased browser. @throws LeaseError on failure */
  connect(lease: LeasedBrowser, events: ConnectionEvents): Promise<Connected>;
}

/** Wires the parts of one worker together. Nothing is leased or connected before its first use. */
export function workerSession<Connected extends Connection<unknown>>({
  address,
  features: settings,
  ownProject,
  connect,
  ...options
}: WorkerSessionOptions<Connected>): WorkerSession<Connected> {
  const broker = brokerClient(address, ownProject);
  const worker = { broker, slot: options.parallelIndex, environment: process.env };
  const features = new WorkerFeatures(settings, worker);
  const hosted = new WorkerBrowser<Connected>({
    ...options,
    broker,
    connect: async (lease, events) => {
      const [connection] = await Promise.all([connect(lease, events), features.load()]);
      features.opened(connection);
      return connection;
    },
  });
  return { broker, hosted, features };
}
