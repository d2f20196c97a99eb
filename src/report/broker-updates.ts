import type { FullConfig, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { type BrokerConnection, connectInTime, LISTENS_WITHIN_MS } from '../broker/rpc/client.ts';
import { type BrokerAddress, sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { firstWorkers, RemainingTests } from './remaining-tests.ts';

type OnConnected = (connection: BrokerConnection) => void;

/**
 * Reports the remaining tests to the run's broker, so that it keeps browsers for them and for no others. At the start,
 * it reports those of the workers that Playwright starts first. Without a connection, the workers request browsers
 * themselves.
 */
export class BrokerUpdates {
  readonly #tests: RemainingTests;
  /** Projects of the first workers, until the broker has been asked for their browsers. */
  #firstWorkers: readonly string[];
  #connection: BrokerConnection | null = null;
  #sentState = '';
  #isSending = false;
  #stopped = false;
  readonly #address: BrokerAddress;
  readonly #onConnected: OnConnected;

  private constructor(address: BrokerAddress, config: FullConfig, suite: Suite, onConnected: OnConnected) {
    this.#address = address;
    this.#onConnected = onConnected;
    this.#tests = new RemainingTests(config, suite);
    this.#firstWorkers = firstWorkers(config, suite);
    this.#schedule();
  }

  /**
   * Null without a broker: no project uses hosted browsers, or there is no global setup.
   * @param onConnected also called for the connection to a broker that replaces a dead one
   */
  static open(config: FullConfig, suite: Suite, onConnected: OnConnected): BrokerUpdates | null {
    const address = sharedBrokerOf(process.env);
    return address && new BrokerUpdates(address, config, suite, onConnected);
  }

  began(test: TestCase, result: TestResult): void {
    this.#tests.began(test, result);
    this.#schedule();
  }

  ended(test: TestCase, result: TestResult): void {
    this.#tests.ended(test, result);
    this.#schedule();
  }

  /** Call it when the run has ended. */
  close(): void {
    this.#stopped = true;
    this.#connection?.close();
  }

  /** Combines all changes of one event loop turn into one message. */
  #schedule(): void {
    if (this.#isSending || this.#stopped) return;
    this.#isSending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    try {
      this.#connection ??= await this.#connect();
      const projects = this.#tests.state;
      const state = JSON.stringify(projects);
      if (state !== this.#sentState) await this.#connection.remaining({ projects });
      this.#sentState = state;
      const first = this.#firstWorkers;
      this.#firstWorkers = [];
      if (first.length > 0) await this.#connection.prefetch({ projects: [...first] });
    } catch {
      this.#connection = null;
    }
    this.#isSending = false;
    // The state may have changed meanwhile.
    if (this.#connection && JSON.stringify(this.#tests.state) !== this.#sentState) this.#schedule();
  }

  async #connect(): Promise<BrokerConnection> {
    const connection = await connectInTime(LISTENS_WITHIN_MS, () => this.#stopped, this.#address, 'control');
    connection.unref();
    if (this.#stopped) connection.close();
    else this.#onConnected(connection);
    // If the broker crashes, its replacement knows nothing about the tests.
    void connection.closed.then(() => {
      this.#connection = null;
      this.#sentState = '';
    });
    return connection;
  }
}
