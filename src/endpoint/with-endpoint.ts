import { BROKER_VARIABLE, sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { OptionsError } from '../errors.ts';
import { connectionSettings } from '../options/lease-plan.ts';
import type { HostedOptions } from '../options/schema/schema.ts';
import { optionsFromFile, startRunnerRun } from '../runners/shared/runner-run.ts';
import { PROJECT } from '../runners/shared/worker-settings.ts';
import { type Endpoint, startEndpoint } from './endpoint.ts';
import { NEW_BROWSERS } from './own-endpoint.ts';

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
