import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import { type BrokerStart, type StartedBroker, startBrokerWith } from '../../broker/start/started-broker.ts';
import { notify } from '../../common/text/notify.ts';
import { featureSettings } from '../../features/list.ts';
import { aheadVariable } from '../../options/environment.ts';
import { greeting } from '../../options/resolve-service.ts';
import type { RefusedRun } from './refused-run.ts';

/**
 * Starts the broker of a run, and waits until it can lease browsers.
 * @throws OptionsError, ServiceError or EmulatorError, see {@link StartedBroker}, before any browser is requested
 */
export async function startRun(start: BrokerStart & RefusedRun): Promise<StartedBroker> {
  const broker = await beginRun(start);
  await broker.started();
  return broker;
}

/**
 * Starts the broker of a run, publishes its address in the environment for child processes, and prints which service is
 * used.
 * @throws OptionsError for invalid options or environment variables
 */
export async function beginRun(start: BrokerStart & RefusedRun): Promise<StartedBroker> {
  // Only workers use the variables of these. Check them before they start.
  aheadVariable(process.env);
  featureSettings(start.options, process.env);
  const { broker, service } = await startBrokerWith(start);
  process.env[BROKER_VARIABLE] = JSON.stringify({ ...broker.address, runner: process.pid, workers: start.workers });
  broker.ready.catch(async (error: unknown) => {
    delete process.env[BROKER_VARIABLE];
    await runRefused(start, error);
  });
  notify(greeting(service));
  return broker;
}

/** Records why a run cannot begin. Loaded when that happens: its schema takes long to load. */
export async function runRefused(run: RefusedRun, reason: unknown): Promise<void> {
  const { recordRefusedRun } = await import('./refused-run.ts');
  recordRefusedRun(run, reason);
}
