import { type StartedBroker, type StartOptions, startBroker } from '../broker/process/start.ts';
import { BROKER_VARIABLE } from '../broker/rpc/shared-broker.ts';
import { notify } from '../common/text/notify.ts';
import { aheadVariable } from '../options/environment.ts';
import { projectFolder } from '../options/project-folder.ts';
import { resolveService, type ServiceChoice } from '../options/resolve-service.ts';
import { earlierAttempts, newRunId } from '../options/run-id.ts';
import type { HostedOptions } from '../options/schema/schema.ts';

/** A run of a test runner, as its main process knows it. */
export interface RunStart
  extends Pick<StartOptions, 'idleMs' | 'projects' | 'recordFolder' | 'runner' | 'shard' | 'workers'> {
  options: HostedOptions;
  /** Where the user's package is looked for. */
  folder: string;
}

/**
 * Starts the broker of a run, and waits until it lends.
 * @throws OptionsError, ServiceError or EmulatorError codes, see {@link StartedBroker}: before any browser was asked for
 */
export async function startRun(start: RunStart): Promise<StartedBroker> {
  const broker = await beginRun(start);
  await broker.started();
  return broker;
}

/**
 * Starts the broker of a run, tells the processes that are started from here where it will be, and greets the user.
 * @throws OptionsError for what can be told from here
 */
export async function beginRun({ options, folder, ...start }: RunStart): Promise<StartedBroker> {
  const service = resolveService(options, process.env);
  // Workers read it: a mistake in it is said before there are any.
  aheadVariable(process.env);
  const { suite, ledgerFolder } = projectFolder(folder);
  const broker = await startBroker({
    ...start,
    runId: newRunId(process.env),
    service,
    suite,
    ledgerFolder,
    overRuns: earlierAttempts(process.env),
  });
  process.env[BROKER_VARIABLE] = JSON.stringify({ ...broker.address, runner: process.pid });
  broker.ready.catch(() => {
    delete process.env[BROKER_VARIABLE];
  });
  notify(greeting(service));
  return broker;
}

function greeting(service: ServiceChoice): string {
  if (service.kind === 'hosted') return `hosted browsers of ${new URL(service.baseURL).host}`;
  const why = {
    option: "`service: 'emulator'`",
    variable: 'POOLWRIGHT_SERVICE=emulator',
    'no-key': 'no POOLWRIGHT_API_KEY is set',
  }[service.chosenBy];
  return `browsers of this machine, through the emulator of the service (${why})`;
}
