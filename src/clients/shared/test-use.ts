import type { PoolwrightError } from '../../errors.ts';
import type { PageFilm } from '../../film/film.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import type { TestFacts } from '../../record/test-record.ts';
import type { RecordedConnection } from './connection/leased-connection.ts';
import { lossError } from './connection/loss.ts';
import { unreachableError } from './connection/unreachable.ts';
import type { RecordSink, UsageRecorder } from './usage-recorder.ts';

/** A recorded test. */
export interface EndedUse {
  attachment: HostedBrowserAttachment;
  /** Added to the test's failure: its browser was lost, or its pages did not reach a server or file of this machine. */
  error: PoolwrightError | null;
  /** The end of its pages, if it gets a film. */
  film: PageFilm[];
}

/** Where a test ran, and how it ended. */
export interface TestEnd extends Pick<HostedBrowserAttachment, 'workerIndex' | 'shard'> {
  facts: TestFacts;
  failed: boolean;
}

/** Tracks the hosted browsers of one test from start to end. The same for every client and runner. */
export class TestUse {
  readonly startedAt = new Date();
  /** The bytes that each connection had moved when the test began to use it, newest last. */
  #connections = new Map<RecordedConnection, number>();
  /** The browser that was connected when the test began, and its bytes and commands at that time. */
  #before: { connection: RecordedConnection; bytes: number; commands: number } | null = null;
  #sharesBefore = false;
  readonly #unreachable = new Set<string>();

  /**
   * The test begins, or continues after one of its `beforeAll` hooks.
   * @param current the browser that is already connected
   * @param shares whether the test may use contexts that are already open, such as a page of `beforeAll`
   */
  begin(current: RecordedConnection | null, shares: boolean): void {
    this.#before = current && { connection: current, bytes: bytesOf(current), commands: current.commands() };
    this.#sharesBefore = shares;
  }

  /** Whether the test has used a hosted browser so far. Call it after a hook or the test itself. */
  hasUsedBrowser(): boolean {
    this.#noteShared();
    return this.#connections.size > 0;
  }

  /** The browser that the test used last; null when it has used none. */
  lastUsed(): RecordedConnection | null {
    this.#noteShared();
    return [...this.#connections.keys()].at(-1) ?? null;
  }

  /** The test opens a context on this connection. */
  uses(connection: RecordedConnection): void {
    this.#noteShared();
    if (!this.#connections.has(connection)) this.#connections.set(connection, bytesOf(connection));
  }

  /** The test may have used this connection from its start, without opening a context through poolwright. */
  mayHaveUsed(connection: RecordedConnection): void {
    if (this.#before?.connection === connection) this.#sharesBefore = true;
    else if (!this.#connections.has(connection)) this.#connections.set(connection, 0);
  }

  /** A page did not reach a server or file of this machine. If the test fails, its error includes this text. */
  addUnreachable(text: string): void {
    this.#unreachable.add(text);
  }

  /** Reports the test to the broker. Call once. Null when the test used no hosted browser. */
  async end(
    { facts, failed, workerIndex, shard }: TestEnd,
    recorder: UsageRecorder,
    sink: RecordSink,
  ): Promise<EndedUse | null> {
    this.#noteShared();
    // Now: pages are closed, or about to be.
    const shown = { from: this.startedAt.getTime(), ok: facts.ok };
    const film = [...this.#connections.keys()].flatMap((connection) => connection.film?.of(shown) ?? []);
    const recorded = await recorder.record(facts, this.#connections, { workerIndex, shard }, sink);
    if (!recorded) return null;
    const { attachment, lost } = recorded;
    // A test that passed had finished before its browser was lost.
    if (!failed) return { attachment, film, error: null };
    if (lost) return { attachment, film, error: lossError(lost.connection.lease, lost.failure) };
    return { attachment, film, error: this.#unreachable.size > 0 ? unreachableError(this.#unreachable) : null };
  }

  /** A shared context counts only if the test sent commands to it: an open page may load resources by itself. */
  #noteShared(): void {
    const before = this.#before;
    if (!before || !this.#sharesBefore || this.#connections.has(before.connection)) return;
    if (before.connection.commands() === before.commands) return;
    this.#connections = new Map([[before.connection, before.bytes], ...this.#connections]);
  }
}

function bytesOf(connection: RecordedConnection): number {
  return connection.observedBytes() ?? 0;
}
