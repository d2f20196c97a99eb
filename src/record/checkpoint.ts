import { join } from 'node:path';
import { type Clock, systemClock, type Timer } from '../common/clock.ts';
import { writeAtomically } from '../common/write-atomically.ts';
import { recordText } from './record-file.ts';
import type { RunRecord } from './run-record.ts';

/** Interval between two writes of the record during a run, in ms. A crash loses no more than that. */
const WRITE_EVERY_MS = 2_000;

/** Options of a {@link Checkpoint}. */
export interface CheckpointOptions {
  /** Directory of `run.json`; null: nothing is written. */
  directory: string | null;
  /** Returns the current record. */
  present(): RunRecord;
  /** Called with the error when the file cannot be written. */
  failed(error: unknown): void;
  /** Default: the system clock. */
  clock?: Clock;
}

/** Keeps `run.json` up to date during a run, so that after a crash there is a complete record, a few seconds old. */
export class Checkpoint {
  readonly #options: CheckpointOptions;
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  /** Schedules a write after a change. */
  touch(): void {
    const { directory, present, clock = systemClock } = this.#options;
    if (directory === null || this.#stopped || this.#timer) return;
    this.#timer = clock.after(WRITE_EVERY_MS, () => {
      this.#timer = null;
      this.#write(present());
    });
    this.#timer.unref();
  }

  /** Writes the final record; later changes are ignored. Resolves when it is on disk or writing has failed. */
  async close(record: RunRecord): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#write(record);
    await this.#writing;
  }

  #write(record: RunRecord): void {
    const { directory, failed } = this.#options;
    if (directory === null) return;
    const file = join(directory, 'run.json');
    this.#writing = this.#writing.then(() => writeAtomically(file, recordText(record))).catch(failed);
  }
}
