import type { BrokerConfig } from '../../../../src/broker/config/config.ts';
import { type BrokerRun, runBroker } from '../../../../src/broker/run/run.ts';
import { startEmulator } from '../../../../src/broker/run/run-service.ts';

/** Starts a broker in this process, as its own process does. @throws the reason if the run cannot begin */
export async function startedBroker(config: BrokerConfig): Promise<BrokerRun> {
  const service = config.service.kind === 'emulator' ? startEmulator(config) : config.service;
  const run = await runBroker(config, service, (why) => Promise.reject(why));
  if (!run) throw new Error('a broker that may not lease has rejected by now');
  return run;
}
