import type { FullConfig, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import type { BrokerConnection } from '../broker/rpc/client.ts';
import { connectInTime, LISTENS_WITHIN_MS } from '../broker/rpc/connect-in-time.ts';
import { type BrokerAddress, sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { firstWorkers } from './fetch-ahead.ts';
import { RemainingTests } from './remaining-tests.ts';

/**
 * Tells the run's broker which tests are still to come, so that it has browsers for them and for no others: at the
 * beginning those of the workers that Playwright is starting. Where it cannot be reached, the workers ask for themselves.
 */
export class BrokerLine {
  readonly #tests: RemainingTests;
  /** Those of the first workers, until the broker has been asked for them. */
  #first: readonly string[];
  #connection: BrokerConnection | null = null;
  #told = '';
  #telling = false;
  #stopped = false;

  readonly #address: BrokerAddress;

  private constructor(address: BrokerAddress, config: FullConfig, suite: Suite) {
    this.#address = address;
    this.#tests = new RemainingTests(config, suite);
    this.#first = firstWorkers(config, suite);
    this.#tell();
  }

  /** Null without a broker: no project on hosted browsers, or no global setup. */
  static open(config: FullConfig, suite: Suite): BrokerLine | null {
    const address = sharedBrokerOf(process.env);
    return address && new BrokerLine(address, config, suite);
  }

  began(test: TestCase, result: TestResult): void {
    this.#tests.began(test, result);
    this.#tell();
  }

  ended(test: TestCase, result: TestResult): void {
    this.#tests.ended(test, result);
    this.#tell();
  }

  /** The run is over. */
  close(): void {
    this.#stopped = true;
    this.#connection?.close();
  }

  /** What happens at once is told at once. */
  #tell(): void {
    if (this.#telling || this.#stopped) return;
    this.#telling = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    try {
      this.#connection ??= await this.#connect();
      const projects = this.#tests.state;
      const state = JSON.stringify(projects);
      if (state !== this.#told) await this.#connection.remaining({ projects });
      this.#told = state;
      const first = this.#first;
      this.#first = [];
      if (first.length > 0) await this.#connection.prefetch({ projects: [...first] });
    } catch {
      this.#connection = null;
    }
    this.#telling = false;
    // What has happened meanwhile.
    if (this.#connection && JSON.stringify(this.#tests.state) !== this.#told) this.#tell();
  }

  async #connect(): Promise<BrokerConnection> {
    const connection = await connectInTime(LISTENS_WITHIN_MS, () => this.#stopped, this.#address, 'control');
    connection.unref();
    if (this.#stopped) connection.close();
    // Of a broker that has died, the next one knows nothing.
    void connection.closed.then(() => {
      this.#connection = null;
      this.#told = '';
    });
    return connection;
  }
}
