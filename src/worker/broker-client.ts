import type { BrokerConnection } from '../broker/rpc/client.ts';
import { connectInTime, LISTENS_WITHIN_MS } from '../broker/rpc/connect-in-time.ts';
import type { HostedProject } from '../broker/rpc/protocol.ts';
import type { BrokerAddress } from '../broker/rpc/shared-broker.ts';
import { brokerLost } from '../broker/rpc/wire-error.ts';
import { LeaseError } from '../errors.ts';
import type { WorkerBroker } from './worker-browser.ts';

/**
 * A worker's line to the broker of its run. Opened on first use; when the broker has died it is opened again, to the
 * one that took its place. Every request rejects with LeaseError `BROKER_LOST` when there is no broker, and none comes
 * within 20 s.
 */
export class BrokerClient implements WorkerBroker {
  #connection: Promise<BrokerConnection> | null = null;
  #closed = false;
  /** Set once none took the place of a dead one: nobody waits for it a second time. */
  #forsaken = false;
  #silentMs: number | null = null;

  readonly #address: BrokerAddress;

  readonly #ownProject: HostedProject | undefined;

  /** @param ownProject one that the run's broker does not know: each broker is told of it anew */
  constructor(address: BrokerAddress, ownProject?: HostedProject) {
    this.#address = address;
    this.#ownProject = ownProject;
  }

  /** Each broker of the run is told, also one that takes the place of a dead one. */
  allowSilence(ms: number | null): void {
    this.#silentMs = ms;
    this.#connection?.then(
      (line) => line.allowSilence(ms),
      () => undefined,
    );
  }

  readonly lease: WorkerBroker['lease'] = (params) => this.#ask((line) => line.lease(params));
  readonly cancelAhead: WorkerBroker['cancelAhead'] = () => this.#ask((line) => line.cancelAhead());
  readonly giveBack: WorkerBroker['giveBack'] = (params) => this.#ask((line) => line.giveBack(params));
  readonly testUsage: WorkerBroker['testUsage'] = (usage) => this.#ask((line) => line.testUsage(usage));
  readonly sessionReport: WorkerBroker['sessionReport'] = (id) => this.#ask((line) => line.sessionReport(id));
  readonly say: WorkerBroker['say'] = (text) => this.#ask((line) => line.say(text));

  async #ask<T>(request: (line: BrokerConnection) => Promise<T>): Promise<T> {
    const asked = this.#open();
    try {
      return await request(await asked);
    } catch (error) {
      if (!isLost(error) || this.#closed) throw error;
    }
    if (this.#connection === asked) this.#connection = null;
    return await request(await this.#open());
  }

  /** Gives up the claim on every browser that is not given back. */
  close(): void {
    this.#closed = true;
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  #open(): Promise<BrokerConnection> {
    if (this.#closed) return Promise.reject(brokerLost('this worker has closed its line'));
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async #connect(): Promise<BrokerConnection> {
    const within = this.#forsaken ? 0 : LISTENS_WITHIN_MS;
    const isPointless = () => isOrphan() || this.#closed;
    try {
      const line = await connectInTime(within, isPointless, this.#address, 'worker', this.#ownProject);
      line.allowSilence(this.#silentMs);
      return line;
    } catch (error) {
      this.#forsaken ||= isLost(error);
      throw error;
    }
  }
}

/** The runner is gone, and with it whoever would replace a broker. Undefined where there is no channel to it. */
function isOrphan(): boolean {
  return process.connected === false;
}

function isLost(error: unknown): boolean {
  return error instanceof LeaseError && error.code === 'BROKER_LOST';
}
