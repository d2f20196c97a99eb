import type { FixedBrowser } from '../../options/resolve-service.ts';
import type { BrokerConfig } from '../config/config.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';

/** The service of a run, hosted or started for the run, or browsers that run already. */
export type RunService =
  | {
      kind: 'service';
      baseURL: string;
      apiKey: string;
      /** The emulator that acts as the service and ends with its broker; null: the service is hosted. */
      embedded: EmbeddedEmulator | null;
    }
  | { kind: 'browsers'; browsers: FixedBrowser[] };

/**
 * Returns the service that a broker's configuration names: a hosted one unchanged, or a new emulator for this run.
 * @throws EmulatorError; the promise may stay unhandled
 */
export function startService(config: BrokerConfig): Promise<RunService> {
  const service = start(config);
  service.catch(() => undefined);
  return service;
}

async function start({ service, workers }: BrokerConfig): Promise<RunService> {
  if (service.kind === 'browsers') return service;
  if (service.kind === 'hosted') return { ...service, kind: 'service', embedded: null };
  // Room for every worker and a handover, so that the emulator's limit never makes the run wait.
  const concurrentBrowsers = Math.max(10, workers * 2);
  const embedded = await startEmbeddedEmulator({ concurrentBrowsers, warmBrowserCap: 30 });
  return { kind: 'service', baseURL: embedded.baseURL, apiKey: embedded.apiKey, embedded };
}
