import { type Clock, systemClock } from '../common/clock.ts';
import { recordedText } from './bounds.ts';
import { Checkpoint } from './checkpoint.ts';
import { readRecord } from './record-file.ts';
import type { RunRecord, TestRecord } from './run-record.ts';
import { keyOf, type SessionFacts, withTotals } from './session-record.ts';
import type { TestUsage } from './test-usage.ts';

/** Which run goes on record, and where. */
export interface RunRecorderOptions extends Pick<RunRecord, 'runId' | 'runner' | 'service' | 'chromiums' | 'shard'> {
  /** Folder of `run.json`; null: nothing is written. */
  recordFolder: string | null;
  /** Called with why `run.json` could not be written. */
  onWriteError(error: unknown): void;
  /** Default: the machine's. */
  clock?: Clock;
}

/**
 * Keeps the record of a run while it goes on: its sessions, what their tests used, and failures to get a browser. What
 * it writes meanwhile is a checkpoint for crashes; the final record is handed over by {@link end}.
 */
export class RunRecorder {
  readonly #sessions: SessionFacts[];
  readonly #leaseFailures: Set<string>;
  readonly #startedAt: string;
  /** Whether a broker of this run has died. */
  readonly #isSuccessor: boolean;
  readonly #checkpoint: Checkpoint;
  readonly #clock: Clock;
  readonly #options: RunRecorderOptions;

  /** Goes on with the record that a broker of this run left behind when it died. */
  constructor(options: RunRecorderOptions) {
    const { recordFolder: folder, runId, onWriteError: failed, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    const earlier = folder === null ? null : ofDeadBroker(readRecord(folder), runId);
    this.#sessions = [...(earlier?.sessions ?? [])];
    this.#leaseFailures = new Set(earlier?.leaseFailures);
    this.#startedAt = earlier?.startedAt ?? new Date(clock.now()).toISOString();
    this.#isSuccessor = earlier !== null;
    this.#checkpoint = new Checkpoint({ folder, failed, present: () => this.#record(null, null), clock });
  }

  /** Its sessions in the order they were acquired. Who changes one of them calls {@link changed}. */
  get sessions(): readonly SessionFacts[] {
    return this.#sessions;
  }

  /** Failures to get a browser, each reason once: twenty workers without credit are one line. */
  get leaseFailures(): readonly string[] {
    return [...this.#leaseFailures];
  }

  /** The run has got another session. */
  add(session: SessionFacts): void {
    this.#sessions.push(session);
    this.changed();
  }

  /**
   * A test used a session, possibly one that a dead broker acquired. A use that is reported twice counts once: a worker
   * whose broker dies does not know whether its report arrived, and sends it again.
   */
  testUsed({ sessionId, test, bridgedBytes, roundTripMs, carriedOrigins }: TestUsage): void {
    const session = this.#sessions.findLast((each) => each.sessionId === sessionId);
    // Playwright's UI may run the same try again: it has another start then.
    const isSame = (known: TestRecord) => keyOf(known) === keyOf(test) && known.startedAt === test.startedAt;
    if (!session || session.tests.some(isSame)) return;
    session.tests.push(test);
    session.bridgedBytes += bridgedBytes;
    session.roundTripMs = shorter(session.roundTripMs, roundTripMs);
    session.carriedOrigins = [...new Set([...session.carriedOrigins, ...carriedOrigins])].sort();
    this.changed();
  }

  /** A browser could not be acquired. */
  leaseFailed(reason: string): void {
    this.#leaseFailures.add(recordedText(reason));
    this.changed();
  }

  /** Something on record has changed. */
  changed(): void {
    this.#checkpoint.touch();
  }

  /** Every browser has ended: stops the checkpoints and returns the final record, which the caller writes. */
  async end(balance: RunRecord['balance']): Promise<RunRecord> {
    await this.#checkpoint.stop();
    return this.#record(new Date(this.#clock.now()).toISOString(), balance);
  }

  /** Writes the final record, where no caller does. Resolves when it is on disk, or could not be written. */
  async write(record: RunRecord): Promise<void> {
    await this.#checkpoint.close(record);
  }

  #record(endedAt: string | null, balance: RunRecord['balance']): RunRecord {
    const { runId, runner, service, chromiums, shard } = this.#options;
    return {
      schema: 1,
      runId,
      runner,
      service,
      chromiums,
      shard,
      startedAt: this.#startedAt,
      endedAt,
      sessions: this.sessions.map(withTotals),
      leaseFailures: [...this.#leaseFailures],
      // What the dead broker's browsers cost is not between these two figures.
      balance: this.#isSuccessor ? null : balance,
      merged: [],
    };
  }
}

/** The shorter of two round trips, of those that are known. */
function shorter(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** What a broker of this run that died had on record. How its browsers ended is the ledger's business. */
function ofDeadBroker(record: RunRecord | null, runId: string | null): RunRecord | null {
  if (record?.runId !== runId || record.endedAt !== null) return null;
  const sessions = record.sessions.map((session) =>
    session.endedAt === null ? { ...session, endReason: 'broker-died' as const, endConfirmed: null } : session,
  );
  return { ...record, sessions };
}
