import type { SessionReport } from '../broker/rpc/protocol.ts';
import type { HostedBrowserAttachment } from '../record/attachment.ts';
import { attachmentOf, type BrowserUse, type TestFacts, testRecordOf, usesTogether } from '../record/test-record.ts';
import type { TestUsage } from '../record/test-usage.ts';
import type { RecordedLink } from './link/lease-link.ts';
import { describeLoss } from './link/loss.ts';

/** What it asks of the broker. That a broker is gone is reported where a browser is asked for, not here. */
export interface RecordSink {
  sessionReport(sessionId: string): Promise<SessionReport>;
  testUsage(usage: TestUsage): Promise<void>;
}

/** What a test leaves on record. */
export interface RecordedUse {
  attachment: HostedBrowserAttachment;
  /** The first of its browsers that was lost, and why; null: none was. */
  lost: { link: RecordedLink; failure: string } | null;
}

/** Puts on record which browsers the tests of one worker used. */
export class UseRecords {
  /** What of a link's bridged bytes is on record. */
  readonly #bridgedOnRecord = new WeakMap<RecordedLink, number>();
  /** What of a link's saved time is. */
  readonly #savedOnRecord = new WeakMap<RecordedLink, number>();
  /** Sessions without a figure: a service that has none while a session runs is asked once, not after every test. */
  readonly #withoutFigure = new Set<string>();

  /**
   * Tells the broker of a test's use of its browsers.
   * @param links each with the bytes it had moved when the test began to use it, newest link last
   * @returns null where it used none
   */
  async put(
    facts: TestFacts,
    links: ReadonlyMap<RecordedLink, number>,
    where: Pick<HostedBrowserAttachment, 'workerIndex' | 'shard'>,
    sink: RecordSink,
  ): Promise<RecordedUse | null> {
    const lost = await lossAmong([...links.keys()], sink);
    const uses: BrowserUse[] = [];
    for (const [link, before] of links) {
      const now = link.observedBytes();
      const observedBytes = now === null ? null : now - before;
      const infrastructureFailure = link === lost?.link ? lost.failure : null;
      const { roundTripMs } = link.distance();
      const savedMs = this.#newly(this.#savedOnRecord, link, link.distance().savedMs);
      const use = { browser: link.lease, observedBytes, savedMs, infrastructureFailure };
      uses.push(use);
      const test = testRecordOf(facts, use);
      const bridgedBytes = this.#newly(this.#bridgedOnRecord, link, link.bridgedBytes());
      const crossed = { bridgedBytes, roundTripMs, carriedOrigins: [...link.carriedOrigins()] };
      await sink.testUsage({ sessionId: link.lease.sessionId, test, ...crossed }).catch(() => undefined);
    }
    const together = usesTogether(uses);
    if (!together) return null;
    const bandwidthBytes = await this.#bandwidthBytes(together.browser.sessionId, sink);
    return { attachment: attachmentOf(facts, together, { ...where, bandwidthBytes }), lost };
  }

  /** What of a sum that only grows is not on record yet; now it is. */
  #newly(onRecord: WeakMap<RecordedLink, number>, link: RecordedLink, sum: number): number {
    const before = onRecord.get(link) ?? 0;
    onRecord.set(link, sum);
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
  links: readonly RecordedLink[],
  sink: RecordSink,
): Promise<{ link: RecordedLink; failure: string } | null> {
  for (const link of links) {
    const loss = link.lost();
    if (!loss) continue;
    return { link, failure: describeLoss(link.lease, loss, await reportOf(link.lease.sessionId, sink)) };
  }
  return null;
}

/** Null when the broker has no answer. */
async function reportOf(sessionId: string, sink: RecordSink): Promise<SessionReport | null> {
  return await sink.sessionReport(sessionId).catch(() => null);
}
