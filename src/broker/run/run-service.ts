import { type OwnBrowsers, openProvider } from '../../providers/open-provider.ts';
import { ServiceClient, type ServiceClientOptions } from '../../service/index.ts';
import type { RunClient } from '../browsers/browser-service.ts';
import type { BrokerConfig } from '../config/config.ts';
import { directoryClock } from '../ledger/directory-clock.ts';
import { type Workspace, workspaceOf } from '../ledger/workspace.ts';
import type { Log } from '../log/log.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';

/** The service of a run, hosted or started for the run, or the user's own browsers. */
export type RunService =
  | {
      kind: 'service';
      baseURL: string;
      apiKey: string;
      /** The emulator that acts as the service and ends with its broker; null: the service is hosted. */
      embedded: EmbeddedEmulator | null;
    }
  | OwnBrowsers;

/**
 * Returns the service that a broker's configuration names: a hosted one unchanged, or a new emulator for this run.
 * @throws EmulatorError; the promise may stay unhandled
 */
export function startService(config: BrokerConfig): Promise<RunService> {
  const service = start(config);
  service.catch(() => undefined);
  return service;
}

async function start({ service, workers, projects }: BrokerConfig): Promise<RunService> {
  if (service.kind === 'browsers' || service.kind === 'provider') return service;
  if (service.kind === 'hosted') return { ...service, kind: 'service', embedded: null };
  // Room for every worker, a handover and the pools, so that the emulator's limits never make the run wait.
  const pools = new Set(projects.flatMap(({ plan }) => (plan.pool === null ? [] : JSON.stringify(plan.pool)))).size;
  const embedded = await startEmbeddedEmulator({
    concurrentBrowsers: Math.max(10, workers * (2 + pools)),
    warmBrowserCap: Math.max(30, workers * pools),
  });
  return { kind: 'service', baseURL: embedded.baseURL, apiKey: embedded.apiKey, embedded };
}

/** Opens what leases the run's browsers. @throws OptionsError for a file without a provider */
export async function openClient(
  service: RunService,
  {
    log,
    ledgerDirectory,
    onRetry,
  }: { log: Log } & Pick<BrokerConfig, 'ledgerDirectory'> & Pick<ServiceClientOptions, 'onRetry'>,
): Promise<RunClient> {
  if (service.kind === 'service') {
    const { baseURL, apiKey } = service;
    return new ServiceClient({ baseURL, apiKey, onRetry });
  }
  return await openProvider(service, (text) => log.notice(text), directoryClock(ledgerDirectory));
}

export async function closeService(client: RunClient, service: RunService): Promise<void> {
  await client.close();
  if (service.kind === 'service') await service.embedded?.stop();
}

/**
 * Whose browsers a dead run may leave, for its ledger and for sweeps. Null: none, because the embedded emulator's end
 * with its broker, and those that run already are never ended.
 */
export function sweptWorkspace(service: RunService): Workspace | null {
  if (service.kind === 'browsers') return null;
  if (service.kind === 'provider') return workspaceOf(service);
  return service.embedded ? null : workspaceOf(service);
}
