import type { BrokerConnection } from '../../broker/rpc/client.ts';
import type { HostedProject, LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { type BrokerClient, brokerClient } from './broker-client.ts';
import type { Connection } from './connection/connect-through.ts';
import type { ConnectionEvents } from './connection/leased-connection.ts';
import type { Holds, HoldsOptions, WorkerHolds } from './hold/holds.ts';
import { WatchedWorker } from './watched-worker.ts';
import { WorkerBrowser, type WorkerBrowserOptions } from './worker-browser.ts';

/** Where holds are recorded, and what they depend on. */
interface LazyHoldsOptions extends Omit<HoldsOptions, 'broker'> {
  broker: Pick<BrokerConnection, 'ask' | 'redact' | 'say' | 'watchOrders'>;
}

/** What one worker has: the browser that it leases, and the connection to its run's broker. */
export interface WorkerSession<Connected extends Connection<unknown>> {
  readonly broker: BrokerClient;
  readonly hosted: WorkerBrowser<Connected>;
  /** Puts its tests on hold. */
  readonly holds: WorkerHolds;
  /** Shows its pages and tests to those who watch the run. */
  readonly watched: WatchedWorker;
}

/** The worker, its broker, and how it connects. */
export interface WorkerSessionOptions<Connected extends Connection<unknown>>
  extends Omit<WorkerBrowserOptions<Connected>, 'broker' | 'clock' | 'connect'> {
  address: BrokerAddress;
  /** A project that the run's broker does not know. */
  ownProject?: HostedProject | undefined;
  /** Connects to a leased browser. @throws LeaseError on failure */
  connect(lease: LeasedBrowser, events: ConnectionEvents): Promise<Connected>;
}

/** Wires the parts of one worker together. Nothing is leased or connected before its first use. */
export function workerSession<Connected extends Connection<unknown>>({
  address,
  ownProject,
  connect,
  ...options
}: WorkerSessionOptions<Connected>): WorkerSession<Connected> {
  const broker = brokerClient(address, ownProject);
  const slot = options.parallelIndex;
  const watched = new WatchedWorker(broker, slot);
  const hosted = new WorkerBrowser<Connected>({
    ...options,
    broker,
    connect: async (lease, events) => {
      const connection = await connect(lease, events);
      watched.follow(connection);
      return connection;
    },
  });
  return { broker, hosted, holds: lazyHolds({ broker, slot, environment: process.env }), watched };
}

/** The holds of one worker. Nothing of them is loaded before the first one. */
function lazyHolds({ broker, ...options }: LazyHoldsOptions): WorkerHolds {
  let loading: Promise<Holds> | undefined;
  const load = async () => {
    const { watchedCallsOver } = await import('../../broker/rpc/watch-calls.ts');
    const { Holds } = await import('./hold/holds.ts');
    return new Holds({ broker: { ...broker, ...watchedCallsOver(broker.ask) }, ...options });
  };
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    hold: async (...given) => (await loaded()).hold(...given),
    holdFailed: async (...given) => (await loaded()).holdFailed(...given),
  };
}
