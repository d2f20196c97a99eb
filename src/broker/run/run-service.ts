import * as v from 'valibot';
import { type EmbeddedEmulator, startEmbeddedEmulator } from './embedded-emulator.ts';

/** The service of a run, found or started. */
export interface RunService {
  baseURL: string;
  apiKey: string;
  /** The emulator that is the service, and ends with its broker; null: the service is a hosted one. */
  embedded: EmbeddedEmulator | null;
}

/** Of the whole configuration, whose check takes long to load, what counts here. */
const whatCounts = v.object({
  service: v.variant('kind', [
    v.object({ kind: v.literal('hosted'), baseURL: v.string(), apiKey: v.string() }),
    v.object({ kind: v.literal('emulator') }),
  ]),
  workers: v.number(),
});

/**
 * The service that a broker's configuration names: a hosted one as it is, or an emulator of the run's own.
 * @throws EmulatorError; nobody need wait for it
 */
export function startService(config: unknown): Promise<RunService> {
  const service = start(v.parse(whatCounts, config));
  service.catch(() => undefined);
  return service;
}

async function start({ service, workers }: v.InferOutput<typeof whatCounts>): Promise<RunService> {
  if (service.kind === 'hosted') return { baseURL: service.baseURL, apiKey: service.apiKey, embedded: null };
  // Room for every worker and a handover; the run's own limit, so that the emulator is never why a run waits.
  const concurrentBrowsers = Math.max(10, workers * 2);
  const embedded = await startEmbeddedEmulator({ concurrentBrowsers, warmBrowserCap: 30 });
  return { baseURL: embedded.baseURL, apiKey: embedded.apiKey, embedded };
}
