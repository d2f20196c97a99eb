import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import type { BrokerAndService, StartedBroker } from '../../broker/start/started-broker.ts';
import { notify } from '../../common/text/notify.ts';
import { greeting } from '../../options/resolve-service.ts';
import type { RefusedRun } from './refused-run.ts';

/**
 * Publishes the address of a run's broker in the environment for child processes, until the run is refused, and prints
 * which service is used.
 */
export function publishRun(
  { broker, service }: BrokerAndService,
  { workers, ...run }: RefusedRun & { workers: number },
): StartedBroker {
  process.env[BROKER_VARIABLE] = JSON.stringify({ ...broker.address, runner: process.pid, workers });
  broker.ready.catch(async (error: unknown) => {
    delete process.env[BROKER_VARIABLE];
    await runRefused(run, error);
  });
  notify(greeting(service));
  return broker;
}

/** Records why a run cannot begin. Loaded when that happens: its schema takes long to load. */
export async function runRefused(run: RefusedRun, reason: unknown): Promise<void> {
  const { recordRefusedRun } = await import('./refused-run.ts');
  recordRefusedRun(run, reason);
}
