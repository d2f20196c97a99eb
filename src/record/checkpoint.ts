import { join } from 'node:path';
import { type Clock, systemClock, type Timer } from '../common/clock.ts';
import { writeWhole } from '../common/write-whole.ts';
import { recordText } from './record-file.ts';
import type { RunRecord } from './run-record.ts';

/** Between two writes of the record while a run goes on, in ms: a crash costs at most so much of it. */
const WRITE_EVERY_MS = 2_000;

/** What a checkpoint is made of. */
export interface CheckpointOptions {
  /** Folder of `run.json`; null: none is written. */
  folder: string | null;
  /** The record as it stands. */
  present(): RunRecord;
  /** Called with why the file could not be written. */
  failed(error: unknown): void;
  /** Default: the machine's. */
  clock?: Clock;
}

/** Keeps `run.json` up to date while a run goes on, so that a crash leaves a whole record that is a few seconds old. */
export class Checkpoint {
  readonly #options: CheckpointOptions;
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  /** Something has changed: it is written soon. */
  touch(): void {
    const { folder, present, clock = systemClock } = this.#options;
    if (folder === null || this.#stopped || this.#timer) return;
    this.#timer = clock.after(WRITE_EVERY_MS, () => {
      this.#timer = null;
      this.#write(present());
    });
    this.#timer.unref();
  }

  /** Stops the checkpoints. Resolves when no write is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#writing;
  }

  /** Writes the final record. Resolves when it is on disk, or could not be written. */
  async close(record: RunRecord): Promise<void> {
    await this.stop();
    this.#write(record);
    await this.#writing;
  }

  #write(record: RunRecord): void {
    const { folder, failed } = this.#options;
    if (folder === null) return;
    const file = join(folder, 'run.json');
    this.#writing = this.#writing.then(() => writeWhole(file, recordText(record))).catch(failed);
  }
}
