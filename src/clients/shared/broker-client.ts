import type { BrokerConnection } from '../../broker/rpc/client.ts';
import { connectInTime, LISTENS_WITHIN_MS } from '../../broker/rpc/connect-in-time.ts';
import type { HostedProject } from '../../broker/rpc/messages/protocol.ts';
import { brokerLost } from '../../broker/rpc/messages/serialized-error.ts';
import type { WatchedBroker } from '../../broker/rpc/orders.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { LeaseError } from '../../errors.ts';
import type { WorkerBroker } from './worker-browser.ts';

/**
 * A worker's connection to the broker of its run. Opens on first use, and again when the broker was replaced after a
 * crash. Every request rejects with LeaseError `BROKER_LOST` when there is no broker and none starts within 20 s.
 */
export class BrokerClient implements WorkerBroker {
  #connection: Promise<BrokerConnection> | null = null;
  #closed = false;
  /** Set when no broker replaced a dead one: later requests do not wait for it again. */
  #hasNoSuccessor = false;
  #silentMs: number | null = null;

  readonly #address: BrokerAddress;

  readonly #ownProject: HostedProject | undefined;

  /** @param ownProject a project that the run's broker does not know; it is sent to every broker */
  constructor(address: BrokerAddress, ownProject?: HostedProject) {
    this.#address = address;
    this.#ownProject = ownProject;
  }

  /** Sent to every broker of the run, including one that replaces a dead one. */
  allowSilence(ms: number | null): void {
    this.#silentMs = ms;
    this.#connection?.then(
      (connection) => connection.allowSilence(ms),
      () => undefined,
    );
  }

  readonly lease: WorkerBroker['lease'] = (params) => this.#call((connection) => connection.lease(params));
  readonly cancelPrefetch: WorkerBroker['cancelPrefetch'] = () =>
    this.#call((connection) => connection.cancelPrefetch());
  readonly giveBack: WorkerBroker['giveBack'] = (params) => this.#call((connection) => connection.giveBack(params));
  readonly isWanted: WorkerBroker['isWanted'] = (params) => this.#call((connection) => connection.isWanted(params));
  readonly testUsage: WorkerBroker['testUsage'] = (usage) => this.#call((connection) => connection.testUsage(usage));
  readonly sessionReport: WorkerBroker['sessionReport'] = (id) =>
    this.#call((connection) => connection.sessionReport(id));
  readonly redact: BrokerConnection['redact'] = (params) => this.#call((connection) => connection.redact(params));
  readonly say: WorkerBroker['say'] = (text) => this.#call((connection) => connection.say(text));

  readonly watched: WatchedBroker = {
    orders: (...given) => this.#call(({ watched }) => watched.orders(...given)),
    ask: (...given) => this.#call(({ watched }) => watched.ask(...given)),
  };

  async #call<T>(request: (connection: BrokerConnection) => Promise<T>): Promise<T> {
    const connecting = this.#open();
    try {
      return await request(await connecting);
    } catch (error) {
      if (!isLost(error) || this.#closed) throw error;
    }
    if (this.#connection === connecting) this.#connection = null;
    return await request(await this.#open());
  }

  /** Closes the connection, which gives up every browser that was not given back. */
  close(): void {
    this.#closed = true;
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  #open(): Promise<BrokerConnection> {
    if (this.#closed) return Promise.reject(brokerLost('this worker has closed its connection'));
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async #connect(): Promise<BrokerConnection> {
    const within = this.#hasNoSuccessor ? 0 : LISTENS_WITHIN_MS;
    const isPointless = () => isOrphan() || this.#closed;
    try {
      const connection = await connectInTime(within, isPointless, this.#address, 'worker', this.#ownProject);
      connection.allowSilence(this.#silentMs);
      return connection;
    } catch (error) {
      this.#hasNoSuccessor ||= isLost(error);
      throw error;
    }
  }
}

/** Whether the runner is gone, so that nothing replaces a broker. False where no channel to it exists. */
function isOrphan(): boolean {
  return process.connected === false;
}

function isLost(error: unknown): boolean {
  return error instanceof LeaseError && error.code === 'BROKER_LOST';
}
