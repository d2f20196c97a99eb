import type { BrokerStart } from '../../broker/start/start.ts';
import type { StartedBroker } from '../../broker/start/started-broker.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';

/** A process that belongs to no run and needs its own broker. */
export type OwnBroker = Omit<BrokerStart, 'idleMs' | 'recordDirectory' | 'workers'>;

/**
 * Starts a broker that ends with this process, in the same way as a run starts one, but without a run record.
 * @throws OptionsError, ServiceError or EmulatorError, see {@link StartedBroker.ready}
 */
export async function startOwnBroker(start: OwnBroker): Promise<{ broker: StartedBroker; service: ServiceChoice }> {
  // Loaded here, because most workers use their run's broker and do not need this code.
  const { startBrokerWith } = await import('../../broker/start/start.ts');
  const started = await startBrokerWith({ ...start, recordDirectory: null, workers: 1 });
  await started.broker.started();
  return started;
}
