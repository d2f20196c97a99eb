import type { OwnBrowsers } from '../../providers/open-provider.ts';
import type { BrowserProvider } from '../../providers/port.ts';
import type { BrokerConfig } from '../config/config.ts';
import { type Workspace, workspaceOf } from '../ledger/workspace.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';

/** The service of a run, hosted or started for the run, or the user's own browsers. */
export type RunService =
  | {
      kind: 'hosted';
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
  if (service.kind === 'hosted') return { ...service, embedded: null };
  // Room for every worker, a handover and the pools, so that the emulator's limits never make the run wait.
  const pools = new Set(projects.flatMap(({ plan }) => (plan.pool === null ? [] : JSON.stringify(plan.pool)))).size;
  const embedded = await startEmbeddedEmulator({
    concurrentBrowsers: Math.max(10, workers * (2 + pools)),
    warmBrowserCap: Math.max(30, workers * pools),
  });
  return { kind: 'hosted', baseURL: embedded.baseURL, apiKey: embedded.apiKey, embedded };
}

export async function closeService(provider: BrowserProvider, service: RunService): Promise<void> {
  await provider.close();
  if (service.kind === 'hosted') await service.embedded?.stop();
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
