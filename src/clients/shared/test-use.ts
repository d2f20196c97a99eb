import type { SessionReport } from '../../broker/rpc/messages/protocol.ts';
import type { Traffic } from '../../cdp/network/send/proxied-traffic.ts';
import { dateNow } from '../../common/clock.ts';
import type { PoolwrightError } from '../../errors.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import type { TestUsage } from '../../record/run-record.ts';
import {
  attachmentOf,
  type BrowserUse,
  combinedUse,
  type RecordedByFeatures,
  type TestFacts,
  testRecordOf,
} from '../../record/test-record.ts';
import type { ConnectionFigures, RecordedConnection } from './connection/leased-connection.ts';
import { describeLoss, lossError } from './connection/loss.ts';
import { unreachableError } from './connection/unreachable.ts';

/** The part of a broker that is used here. A lost broker is reported when a browser is requested, not here. */
export interface RecordSink {
  sessionReport(params: { sessionId: string }): Promise<SessionReport>;
  /** Masks the run's secrets, and those given. */
  redact(params: { texts: string[]; secrets: string[] }): Promise<string[]>;
  testUsage(usage: TestUsage): Promise<void>;
}

/** A recorded test. */
export interface EndedUse {
  attachment: HostedBrowserAttachment;
  /** Why it failed: its browser was lost, or its pages did not reach a server or file of this machine. */
  error: PoolwrightError | null;
}

/** Where a test ran, and how it ended. */
export interface TestEnd extends Pick<HostedBrowserAttachment, 'workerIndex' | 'shard'> {
  facts: TestFacts;
  failed: boolean;
}

/** Tracks the hosted browsers of one test from start to end. The same for every client and runner. */
export class TestUse {
  readonly startedAt = new Date(dateNow());
  /** The figures of each connection when the test began to use it, newest last. */
  #connections = new Map<RecordedConnection, ConnectionFigures>();
  /** The browser that was connected when the test began, and its figures at that time. */
  #before: { connection: RecordedConnection; figures: ConnectionFigures } | null = null;
  #sharesBefore = false;
  readonly #unreachable = new Set<string>();
  /** What features add to its record. */
  readonly fields: RecordedByFeatures = { evidence: null, holds: [] };

  /**
   * The test begins, or continues after one of its `beforeAll` hooks.
   * @param current the browser that is already connected
   * @param shares whether the test may use contexts that are already open, such as a page of `beforeAll`
   */
  begin(current: RecordedConnection | null, shares: boolean): void {
    this.#before = current && { connection: current, figures: current.figures() };
    this.#sharesBefore = shares;
  }

  /** Whether the test has used a hosted browser so far. Call it after a hook or the test itself. */
  hasUsedBrowser(): boolean {
    return this.connections().length > 0;
  }

  /** The browsers that the test has used so far, newest last. */
  connections(): readonly RecordedConnection[] {
    this.#noteShared();
    return [...this.#connections.keys()];
  }

  /** The test opens a context on this connection. */
  uses(connection: RecordedConnection): void {
    this.#noteShared();
    if (!this.#connections.has(connection)) this.#connections.set(connection, connection.figures());
  }

  /** The test may have used this connection from its start, without opening a context through poolwright. */
  mayHaveUsed(connection: RecordedConnection): void {
    if (this.#before?.connection === connection) this.#sharesBefore = true;
    else if (!this.#connections.has(connection)) this.#connections.set(connection, NOTHING);
  }

  /** A page did not reach a server or file of this machine. If the test fails, this text is its first error. */
  addUnreachable(text: string): void {
    this.#unreachable.add(text);
  }

  /** Reports the test to the broker. Call once. Null when the test used no hosted browser. */
  async end({ facts, failed, workerIndex, shard }: TestEnd, sink: RecordSink): Promise<EndedUse | null> {
    const connections = this.connections();
    const recorded = { ...facts, ...this.fields };
    const lost = await lossAmong(connections, sink);
    const uses: BrowserUse[] = [];
    for (const [connection, before] of this.#connections) {
      const failure = connection === lost?.connection ? lost.failure : null;
      uses.push(await report(recorded, connection, before, failure, sink));
    }
    const use = combinedUse(uses);
    const last = connections.at(-1);
    if (!use || !last) return null;
    const bandwidthBytes = await bandwidthOf(last, sink);
    const attachment = attachmentOf(recorded, use, { workerIndex, shard, bandwidthBytes });
    // A test that passed had finished before its browser was lost.
    if (!failed) return { attachment, error: null };
    if (lost) return { attachment, error: lossError(lost.connection.lease, lost.failure) };
    return { attachment, error: this.#unreachable.size > 0 ? unreachableError(this.#unreachable) : null };
  }

  /** A shared context counts only if the test sent commands to it: an open page may load resources by itself. */
  #noteShared(): void {
    const before = this.#before;
    if (!before || !this.#sharesBefore || this.#connections.has(before.connection)) return;
    if (before.connection.figures().commands === before.figures.commands) return;
    this.#connections = new Map([[before.connection, before.figures], ...this.#connections]);
  }
}

/** The figures of a new connection. */
const NOTHING: ConnectionFigures = {
  observedBytes: 0,
  commands: 0,
  roundTripMs: null,
  savedMs: 0,
  proxied: { sent: 0, received: 0 },
  carriedOrigins: [],
  pictureBytes: 0,
};

function totalOf({ sent, received }: Traffic): number {
  return sent + received;
}

/** What the broker knows of each connection: the figures grow, and a report contains the increase. */
const reported = new WeakMap<RecordedConnection, ConnectionFigures>();
/** The service had no figure for their sessions. It is asked once, not after every test. */
const haveNoFigure = new WeakSet<RecordedConnection>();

/** Reports to the broker what a test used of one browser. @param before its figures when the test began to use it */
async function report(
  facts: TestFacts,
  connection: RecordedConnection,
  before: ConnectionFigures,
  infrastructureFailure: string | null,
  sink: RecordSink,
): Promise<BrowserUse> {
  const now = connection.figures();
  const known = reported.get(connection) ?? NOTHING;
  reported.set(connection, now);
  const use = {
    browser: connection.lease,
    observedBytes: now.observedBytes === null ? null : now.observedBytes - (before.observedBytes ?? 0),
    proxiedBytes: totalOf(now.proxied) - totalOf(before.proxied),
    proxiedSentBytes: now.proxied.sent - before.proxied.sent,
    savedMs: now.savedMs - known.savedMs,
    infrastructureFailure,
  };
  const usage = {
    sessionId: connection.lease.sessionId,
    test: testRecordOf(facts, use),
    bridgedBytes: totalOf(now.proxied) - totalOf(known.proxied),
    pictureBytes: now.pictureBytes - known.pictureBytes,
    roundTripMs: now.roundTripMs,
    carriedOrigins: [...now.carriedOrigins],
  };
  await sink.testUsage(usage).catch(() => undefined);
  return use;
}

/** The service's figure for a session; null without one. */
async function bandwidthOf(connection: RecordedConnection, sink: RecordSink): Promise<number | null> {
  if (haveNoFigure.has(connection)) return null;
  const bytes = (await reportOf(connection.lease.sessionId, sink))?.bandwidthBytes ?? null;
  if (bytes === null) haveNoFigure.add(connection);
  return bytes;
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
  return await sink.sessionReport({ sessionId }).catch(() => null);
}
