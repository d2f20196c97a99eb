import type { SessionReport } from '../../broker/rpc/protocol.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import { attachmentOf, type BrowserUse, combinedUse, type TestFacts, testRecordOf } from '../../record/test-record.ts';
import type { TestUsage } from '../../record/test-usage.ts';
import type { RecordedConnection } from './connection/leased-connection.ts';
import { describeLoss } from './connection/loss.ts';

/** The part of a broker that is used here. A lost broker is reported when a browser is requested, not here. */
export interface RecordSink {
  sessionReport(sessionId: string): Promise<SessionReport>;
  testUsage(usage: TestUsage): Promise<void>;
}

/** The record of a test's use of its browsers. */
export interface RecordedUse {
  attachment: HostedBrowserAttachment;
  /** The first of its browsers that was lost, and why; null if none was. */
  lost: { connection: RecordedConnection; failure: string } | null;
}

/** Reports to the broker which browsers the tests of one worker used. */
export class UsageRecorder {
  /** How many bytes of each connection through `exposeNetwork` have been reported. */
  readonly #bridgedOnRecord = new WeakMap<RecordedConnection, number>();
  /** How many bytes of each connection's pictures have been reported. */
  readonly #picturesOnRecord = new WeakMap<RecordedConnection, number>();
  /** How much saved time of each connection has been reported. */
  readonly #savedOnRecord = new WeakMap<RecordedConnection, number>();
  /** Sessions without a bandwidth figure. The service is asked once, not after every test. */
  readonly #withoutFigure = new Set<string>();

  /**
   * Reports one test.
   * @param connections each with the bytes it had moved when the test began to use it, newest last
   * @returns null when the test used no hosted browser
   */
  async record(
    facts: TestFacts,
    connections: ReadonlyMap<RecordedConnection, number>,
    where: Pick<HostedBrowserAttachment, 'workerIndex' | 'shard'>,
    sink: RecordSink,
  ): Promise<RecordedUse | null> {
    const lost = await lossAmong([...connections.keys()], sink);
    const uses: BrowserUse[] = [];
    for (const [connection, before] of connections) {
      const now = connection.observedBytes();
      const observedBytes = now === null ? null : now - before;
      const infrastructureFailure = connection === lost?.connection ? lost.failure : null;
      const { roundTripMs } = connection.distance();
      const savedMs = this.#newly(this.#savedOnRecord, connection, connection.distance().savedMs);
      const use = { browser: connection.lease, observedBytes, savedMs, infrastructureFailure };
      uses.push(use);
      const test = testRecordOf(facts, use);
      const bridgedBytes = this.#newly(this.#bridgedOnRecord, connection, connection.bridgedBytes());
      const pictureBytes = this.#newly(this.#picturesOnRecord, connection, connection.pictureBytes());
      const crossed = { bridgedBytes, pictureBytes, roundTripMs, carriedOrigins: [...connection.carriedOrigins()] };
      await sink.testUsage({ sessionId: connection.lease.sessionId, test, ...crossed }).catch(() => undefined);
    }
    const combined = combinedUse(uses);
    if (!combined) return null;
    const bandwidthBytes = await this.#bandwidthBytes(combined.browser.sessionId, sink);
    return { attachment: attachmentOf(facts, combined, { ...where, bandwidthBytes }), lost };
  }

  /** Returns how much a growing total exceeds its last report, and marks it as reported. */
  #newly(onRecord: WeakMap<RecordedConnection, number>, connection: RecordedConnection, sum: number): number {
    const before = onRecord.get(connection) ?? 0;
    onRecord.set(connection, sum);
    return sum - before;
  }

  async #bandwidthBytes(sessionId: string, sink: RecordSink): Promise<number | null> {
    if (this.#withoutFigure.has(sessionId)) return null;
    const bytes = (await reportOf(sessionId, sink))?.bandwidthBytes ?? null;
    if (bytes === null) this.#withoutFigure.add(sessionId);
    return bytes;
  }
}

async function lossAmong(
  connections: readonly RecordedConnection[],
  sink: RecordSink,
): Promise<{ connection: RecordedConnection; failure: string } | null> {
  for (const connection of connections) {
    const loss = connection.lost();
    if (!loss) continue;
    return {
      connection,
      failure: describeLoss(connection.lease, loss, await reportOf(connection.lease.sessionId, sink)),
    };
  }
  return null;
}

/** Null when the broker has no report. */
async function reportOf(sessionId: string, sink: RecordSink): Promise<SessionReport | null> {
  return await sink.sessionReport(sessionId).catch(() => null);
}
