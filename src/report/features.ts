import type { Reporter } from '@playwright/test/reporter';
import type { BrokerConnection } from '../broker/rpc/client.ts';

/** A reporter that has the run's connection to its broker. */
export interface ReporterFeature extends Reporter {
  /** Called again with the connection to a broker that replaces a dead one. */
  connected(connection: BrokerConnection): void;
}

/** What the reporter can do without, one line each. */
export { WatchedTests as watch } from './watch/watched-tests.ts';
