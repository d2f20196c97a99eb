import type { Ask, CallsOfRole } from '../../broker/rpc/call-table.ts';
import { type BrokerConnection, connectInTime, LISTENS_WITHIN_MS, runCallsOver } from '../../broker/rpc/client.ts';
import type { HostedProject, RUN_CALLS } from '../../broker/rpc/messages/protocol.ts';
import { brokerLost } from '../../broker/rpc/messages/serialized-error.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { LeaseError } from '../../errors.ts';

/**
 * A worker's connection to the broker of its run. Opens on first use, and again when the broker was replaced after a
 * crash. Every request rejects with LeaseError `BROKER_LOST` when there is no broker and none starts within 20 s.
 */
export interface BrokerClient
  extends CallsOfRole<typeof RUN_CALLS, 'worker'>,
    Pick<BrokerConnection, 'allowSilence' | 'ask'> {
  /** Closes the connection, which gives up every browser that was not given back. */
  close(): void;
}

/** @param ownProject a project that the run's broker does not know; it is sent to every broker */
export function brokerClient(address: BrokerAddress, ownProject?: HostedProject): BrokerClient {
  const connection = new LastingConnection(address, ownProject);
  const ask: Ask = (method, params) => connection.ask(method, params);
  return {
    ...runCallsOver(ask),
    ask,
    allowSilence: (ms) => connection.allowSilence(ms),
    close: () => connection.close(),
  };
}

class LastingConnection {
  #connection: Promise<BrokerConnection> | null = null;
  #closed = false;
  /** Set when no broker replaced a dead one: later requests do not wait for it again. */
  #hasNoSuccessor = false;
  #silentMs: number | null = null;

  readonly #address: BrokerAddress;
  readonly #ownProject: HostedProject | undefined;

  constructor(address: BrokerAddress, ownProject: HostedProject | undefined) {
    this.#address = address;
    this.#ownProject = ownProject;
  }

  /** Sent to every broker of the run, including one that replaces a dead one. */
  allowSilence(ms: number | null): void {
    this.#silentMs = ms;
    this.#connection?.then(
      (connection) => connection.allowSilence(ms),
      () => undefined, // the next connection gets it
    );
  }

  async ask(method: string, params: object): Promise<unknown> {
    const connecting = this.#open();
    try {
      return await (await connecting).ask(method, params);
    } catch (error) {
      if (!isLost(error) || this.#closed) throw error;
    }
    if (this.#connection === connecting) this.#connection = null;
    return await (await this.#open()).ask(method, params);
  }

  close(): void {
    this.#closed = true;
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined, // there is none
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
