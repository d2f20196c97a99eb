import type { BrokerConnection } from '../../broker/rpc/client.ts';
import type { SessionReport, TestUsage } from '../../broker/rpc/protocol.ts';
import type { RecordSink } from '../recording/recorder.ts';

type Broker = Pick<BrokerConnection, 'testUsage' | 'sessionReport'>;

/** What a worker tells and asks its broker for the record. A broker that is gone costs the record, never a test. */
export class BrokerSink implements RecordSink {
  readonly #bandwidthUnknown = new Set<string>();

  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** The service's figure for a session; null while it has none. It is asked once then, not after every test. */
  async bandwidthBytes(sessionId: string): Promise<number | null> {
    if (this.#bandwidthUnknown.has(sessionId)) return null;
    const report = await this.sessionReport(sessionId);
    if (report?.bandwidthBytes == null) this.#bandwidthUnknown.add(sessionId);
    return report?.bandwidthBytes ?? null;
  }

  async sessionReport(sessionId: string): Promise<SessionReport | null> {
    return await this.#broker.sessionReport(sessionId).catch(() => null);
  }

  async testUsage(usage: TestUsage): Promise<void> {
    await this.#broker.testUsage(usage).catch(() => undefined); // said where a browser is asked for
  }
}
