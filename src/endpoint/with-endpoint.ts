import { BROKER_VARIABLE, sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { startBrokerWith } from '../broker/start/started-broker.ts';
import { OptionsError } from '../errors.ts';
import { connectionSettings, leasePlan } from '../options/lease-plan.ts';
import type { HostedOptions } from '../options/schema/schema.ts';
import { optionsFromFile, startRunnerRun } from '../runners/shared/runner-run.ts';
import { PROJECT } from '../runners/shared/worker-settings.ts';
import { type Endpoint, startEndpoint } from './endpoint.ts';

/** Each tool gets a browser that no other one has used: it may have changed anything in it. */
const NEW_BROWSERS = { reuse: 'test' } as const satisfies HostedOptions;

/**
 * An endpoint and its broker, in a process that no command has started. Has the options of `poolwright.config.*` in
 * the working directory.
 * @throws OptionsError, ServiceError or EmulatorError
 */
export async function startOwnEndpoint(): Promise<{ url: string; stop(): Promise<void> }> {
  const root = process.cwd();
  const options = { ...(await optionsFromFile(root)), ...NEW_BROWSERS };
  const project = { id: 'program', name: '' };
  const projects = [{ ...project, plan: leasePlan(options, process.env) }];
  const { broker } = await startBrokerWith({ options, projects, directory: root, shard: null, runner: null });
  await broker.started();
  const { address } = broker;
  const connection = connectionSettings(options, process.env);
  const endpoint = await startEndpoint({ address, connection, project, root, command: '' });
  return {
    url: endpoint.url,
    stop: async () => {
      await endpoint.stop();
      await broker.finish();
    },
  };
}

/** The browsers of an endpoint. */
export interface EndpointStart {
  /** Path of another file than `poolwright.config.*`. */
  config: string | undefined;
  /** They override those of the file. */
  options: HostedOptions;
  /** How many browsers there may be at the same time. */
  max: number | undefined;
  /** The port of the address. Default: any free one. */
  port?: number | undefined;
}

/**
 * Opens an endpoint while `use` runs. Then every browser is given back, and the run is recorded.
 * @param user for the record: who uses the endpoint
 * @throws OptionsError, ServiceError or EmulatorError before that; PoolwrightError `BUDGET_EXCEEDED` after it
 */
export async function withEndpoint<Result>(
  user: string,
  { config, options: given, max, port }: EndpointStart,
  use: (endpoint: Endpoint) => Promise<Result>,
): Promise<Result> {
  const root = process.cwd();
  const options = { ...(await optionsFromFile(root, config)), ...given, ...NEW_BROWSERS };
  const run = await startRunnerRun({ runner: 'exec', root, workers: max ?? 1, shard: null, options });
  try {
    const address = sharedBrokerOf(process.env);
    if (!address) throw new OptionsError(BROKER_VARIABLE, 'The broker of this run has ended.');
    const connection = connectionSettings(options, process.env);
    const endpoint = await startEndpoint({ address, connection, project: PROJECT, root, command: user }, { max, port });
    try {
      return await use(endpoint);
    } finally {
      await endpoint.stop();
    }
  } finally {
    await run.finish();
  }
}
