import type { TestCase, TestResult, TestStep } from '@playwright/test/reporter';
import type { BrokerConnection } from '../broker/rpc/client.ts';

/** What the reporter passes on. */
export interface ReporterFeature {
  /** Called again with the connection to a broker that replaces a dead one. */
  connected(connection: Pick<BrokerConnection, 'ask'>): void;
  began(test: TestCase, result: TestResult): void;
  stepBegan(result: TestResult, step: TestStep): void;
  stepEnded(result: TestResult, step: TestStep): void;
  ended(result: TestResult): void;
  /** The run has ended. */
  close(): void;
}

/** What the reporter can do without, one line each. */
export { WatchedTests as watch } from './watch/watched-tests.ts';
