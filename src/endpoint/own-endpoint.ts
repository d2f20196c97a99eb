import { startOwnBroker } from '../clients/shared/own-broker.ts';
import { connectionSettings, leasePlan } from '../options/lease-plan.ts';
import type { HostedOptions } from '../options/schema/schema.ts';
import { optionsFromFile } from '../runners/shared/runner-run.ts';
import { startEndpoint } from './endpoint.ts';

/** Each tool gets a browser that no other one has used: it may have changed anything in it. */
export const NEW_BROWSERS = { reuse: 'test' } as const satisfies HostedOptions;

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
  const { broker } = await startOwnBroker({ options, projects, directory: root, shard: null, runner: null });
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
