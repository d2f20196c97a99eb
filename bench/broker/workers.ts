import { setTimeout as delay } from 'node:timers/promises';
import { type BrokerConnection, connectToBroker } from '../../src/broker/rpc/client.ts';
import type { BrokerAddress } from '../../src/broker/rpc/shared-broker.ts';

/** Workers of a run as its broker sees them: a socket each, which leases a browser and gives it back. */
export class Workers {
  readonly #connections: BrokerConnection[];

  private constructor(connections: BrokerConnection[]) {
    this.#connections = connections;
  }

  /** @param address where the broker is */
  static async connect(address: BrokerAddress, count: number): Promise<Workers> {
    const connections: BrokerConnection[] = [];
    while (connections.length < count) connections.push(await connectToBroker(address, 'worker'));
    return new Workers(connections);
  }

  /** Every worker leases, again and again without a pause, until there were so many leases. @returns leases a second */
  async leaseAsFastAsPossible(leases: number): Promise<number> {
    let left = leases;
    const start = performance.now();
    await this.#all(async (connection, index) => {
      while (left > 0) {
        left -= 1;
        await this.#leaseOnce(connection, index);
      }
    });
    return leases / ((performance.now() - start) / 1000);
  }

  /**
   * Every worker leases now and then, so that all together come to this rate. @returns how long each lease took, in ms
   */
  async leaseAtRate(perSecond: number, leases: number): Promise<number[]> {
    const meanPauseMs = (this.#connections.length / perSecond) * 1000;
    const times: number[] = [];
    let left = leases;
    await this.#all(async (connection, index) => {
      while (left > 0) {
        left -= 1;
        await delay(meanPauseMs * 2 * Math.random());
        times.push(await this.#leaseOnce(connection, index));
      }
    });
    return times;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  async #all(work: (connection: BrokerConnection, index: number) => Promise<void>): Promise<void> {
    await Promise.all(this.#connections.map(work));
  }

  async #leaseOnce(connection: BrokerConnection, index: number): Promise<number> {
    const start = performance.now();
    const { sessionId } = await connection.lease({ project: '', parallelIndex: index, needMs: 10_000 });
    const took = performance.now() - start;
    await connection.giveBack({ sessionId, condition: 'healthy', toBeReplaced: true });
    return took;
  }
}
