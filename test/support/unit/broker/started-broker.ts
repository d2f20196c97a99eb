import type { BrokerConfig } from '../../../../src/broker/process/config.ts';
import { type BrokerRun, runBroker } from '../../../../src/broker/run/run.ts';
import { startService } from '../../../../src/broker/run/run-service.ts';

/** A broker in this process, as its own process starts one. */
export function startedBroker(config: BrokerConfig): Promise<BrokerRun> {
  return runBroker(config, startService(config));
}
