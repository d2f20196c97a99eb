import type { BrokerConfig } from './config.ts';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';

/** The service of a run, found or started. */
export interface RunService {
  baseURL: string;
  apiKey: string;
  /** The emulator that is the service, and ends with its broker; null: the service is a hosted one. */
  embedded: EmbeddedEmulator | null;
}

/**
 * The service that the config names: a hosted one as it is, or an emulator of the run's own.
 * @throws EmulatorError
 */
export async function startService({ service, workers }: BrokerConfig): Promise<RunService> {
  if (service.kind === 'hosted') return { baseURL: service.baseURL, apiKey: service.apiKey, embedded: null };
  // Room for every worker and a handover; the run's own limit, so that the emulator is never why a run waits.
  const concurrentBrowsers = Math.max(10, workers * 2);
  const embedded = await startEmbeddedEmulator({ concurrentBrowsers, warmBrowserCap: 30 });
  return { baseURL: embedded.baseURL, apiKey: embedded.apiKey, embedded };
}
