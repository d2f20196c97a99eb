import { join } from 'node:path';
import { type Clock, systemClock, type Timer } from '../common/clock.ts';
import { writeAtomically } from '../common/write-atomically.ts';
import { failureOf, lostBrowsers } from './failures.ts';
import { readRecord, recordText } from './record-file.ts';
import type { RunFailure, RunRecord, TestRecord, TestUsage } from './run-record.ts';
import { type SessionFacts, withTotals } from './session-record.ts';
import { keyOf } from './test-record.ts';

/** Interval between two writes of the record during a run, in ms. A crash loses no more than that. */
const WRITE_EVERY_MS = 2_000;

/** Identifies the recorded run, and where its record goes. */
export interface RunRecorderOptions extends Pick<RunRecord, 'runId' | 'runner' | 'service' | 'chromiums' | 'shard'> {
  /** Directory of `run.json`; null: nothing is written. */
  recordDirectory: string | null;
  /** Whether this broker replaces one of this run that crashed. Default: false. */
  isSuccessor?: boolean;
  /** Called with the error when `run.json` cannot be written. */
  onWriteError(error: unknown): void;
  /** Default: the system clock. */
  clock?: Clock;
}

/**
 * Keeps the record of a run: its sessions, what their tests used, and failures to get a browser. During the run it
 * writes checkpoints in case of a crash; {@link end} writes the final record.
 */
export class RunRecorder {
  readonly #sessions: SessionFacts[];
  readonly #leaseFailures: Map<string, RunFailure>;
  readonly #startedAt: string;
  /** Whether it continues the record of a crashed broker. */
  readonly #continues: boolean;
  #timer: Timer | null = null;
  #writing = Promise.resolve();
  #hasEnded = false;
  readonly #clock: Clock;
  readonly #options: RunRecorderOptions;
  /** See the record. Known after the checks of the run. */
  browsers: number | null = null;

  /** Continues the record that a crashed broker of this run left, if any. */
  constructor(options: RunRecorderOptions) {
    const { recordDirectory: directory, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    const earlier = directory === null ? null : fromCrashedBroker(readRecord(directory), options);
    this.#sessions = [...(earlier?.sessions ?? [])];
    const { leaseFailures = [], failures = [] } = earlier ?? {};
    const known = (message: string) => failures.find((each) => each.message === message) ?? failureOf(message);
    this.#leaseFailures = new Map(leaseFailures.map((message) => [message, known(message)]));
    this.#startedAt = earlier?.startedAt ?? new Date(clock.now()).toISOString();
    this.#continues = earlier !== null;
  }

  /** Sessions in the order of their leases. Call {@link changed} after changing one of them. */
  get sessions(): readonly SessionFacts[] {
    return this.#sessions;
  }

  /** The tests that have ended, with the session of each. */
  get tests(): { sessionId: string; test: TestRecord }[] {
    return this.#sessions.flatMap(({ sessionId, tests }) => tests.map((test) => ({ sessionId, test })));
  }

  /** Reasons for failures to get a browser, without duplicates: twenty workers without credit give one line. */
  get leaseFailures(): readonly string[] {
    return [...this.#leaseFailures.keys()];
  }

  add(session: SessionFacts): void {
    this.#sessions.push(session);
    this.changed();
  }

  /**
   * Records that a test used a session, possibly one that a crashed broker leased. A use that is reported twice counts
   * once: a worker whose broker crashes cannot know whether its report arrived, and sends it again.
   */
  testUsed({ sessionId, test, bridgedBytes, pictureBytes, roundTripMs, carriedOrigins }: TestUsage): void {
    const session = this.#sessions.findLast((each) => each.sessionId === sessionId);
    // Playwright's UI mode may run the same try again, with a different start.
    const isSame = (known: TestRecord) => keyOf(known) === keyOf(test) && known.startedAt === test.startedAt;
    if (!session || session.tests.some(isSame)) return;
    session.tests.push(test);
    session.bridgedBytes += bridgedBytes;
    session.pictureBytes += pictureBytes;
    session.roundTripMs = shorter(session.roundTripMs, roundTripMs);
    session.carriedOrigins = [...new Set([...session.carriedOrigins, ...carriedOrigins])].sort();
    this.changed();
  }

  /** Records that a browser could not be leased. */
  leaseFailed(reason: unknown): void {
    const failure = failureOf(reason);
    this.#leaseFailures.set(failure.message, failure);
    this.changed();
  }

  /** Call this after a change to recorded data, which is written soon, so that a crash leaves a complete record. */
  changed(): void {
    if (this.#options.recordDirectory === null || this.#hasEnded || this.#timer) return;
    this.#timer = this.#clock.after(WRITE_EVERY_MS, () => {
      this.#timer = null;
      this.#write(this.#record(null, null));
    });
    this.#timer.unref();
  }

  /**
   * Returns the final record when it is on disk, or writing has failed. Call it when every browser has ended. Later
   * changes are ignored.
   */
  async end(balance: RunRecord['balance']): Promise<RunRecord> {
    const record = this.#record(new Date(this.#clock.now()).toISOString(), balance);
    this.#hasEnded = true;
    this.#timer?.cancel();
    this.#write(record);
    await this.#writing;
    return record;
  }

  #write(record: RunRecord): void {
    const { recordDirectory, onWriteError } = this.#options;
    if (recordDirectory === null) return;
    const file = join(recordDirectory, 'run.json');
    this.#writing = this.#writing.then(() => writeAtomically(file, recordText(record))).catch(onWriteError);
  }

  #record(endedAt: string | null, balance: RunRecord['balance']): RunRecord {
    const { runId, runner, service, chromiums, shard } = this.#options;
    const sessions = this.sessions.map(withTotals);
    return {
      schema: 1,
      runId,
      runner,
      service,
      chromiums,
      shard,
      browsers: this.browsers,
      startedAt: this.#startedAt,
      endedAt,
      sessions,
      leaseFailures: [...this.#leaseFailures.keys()],
      failures: [...this.#leaseFailures.values(), ...lostBrowsers(sessions)],
      // The balance at the start of this broker does not include what the crashed broker spent.
      balance: this.#continues ? null : balance,
      partition: null,
      work: null,
      merged: [],
    };
  }
}

/** The shorter of two round-trip times; null counts as unknown. */
function shorter(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** The record of a crashed broker of this run. The ledger knows how its browsers ended. */
function fromCrashedBroker(
  record: RunRecord | null,
  { runId, isSuccessor }: Pick<RunRecorderOptions, 'runId' | 'isSuccessor'>,
): RunRecord | null {
  if (record?.runId !== runId) return null;
  // A broker may crash after it has written the final record, before its runner receives it.
  if (record.endedAt !== null && !isSuccessor) return null;
  const sessions = record.sessions.map((session) =>
    session.endedAt === null ? { ...session, endReason: 'broker-died' as const, endConfirmed: null } : session,
  );
  return { ...record, sessions };
}
