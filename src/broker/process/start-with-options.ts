import type { MergedOptions } from '../../options/lease-plan.ts';
import { projectFolder } from '../../options/project-folder.ts';
import { resolveService, type ServiceChoice } from '../../options/resolve-service.ts';
import { earlierAttempts, newRunId } from '../../options/run-id.ts';
import { type StartedBroker, type StartOptions, startBroker } from './start.ts';

/** A run, or a single process, that needs a broker. */
export interface BrokerStart
  extends Pick<StartOptions, 'idleMs' | 'projects' | 'recordFolder' | 'runner' | 'shard' | 'workers'> {
  /** The options of the run. */
  options: MergedOptions;
  /** Directory of the user's package. */
  folder: string;
}

/**
 * Starts a broker from the options and this process's environment, which decide on the service, the run and the place
 * of its ledger.
 * @throws OptionsError for invalid options; {@link StartedBroker.ready} reports all other errors
 */
export async function startBrokerWith({
  options,
  folder,
  ...start
}: BrokerStart): Promise<{ broker: StartedBroker; service: ServiceChoice }> {
  const service = resolveService({ ...options, pool: options.pool ?? undefined }, process.env);
  const { suite, ledgerFolder } = projectFolder(folder);
  const broker = await startBroker({
    ...start,
    runId: newRunId(process.env),
    service,
    suite,
    ledgerFolder,
    overRuns: earlierAttempts(process.env),
  });
  return { broker, service };
}
