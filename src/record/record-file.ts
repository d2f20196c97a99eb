import { readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type RunRecord, runRecord } from './run-record.ts';

/** Between two writes of the record while a run goes on, in ms: a crash costs at most so much of it. */
const WRITE_EVERY_MS = 2_000;

/** Keeps `run.json` up to date while a run goes on. */
export class RecordFile {
  readonly #file: string | null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  readonly #present: () => RunRecord;
  readonly #failed: (error: unknown) => void;

  /**
   * @param folder null: none is written
   * @param failed called with why the file could not be written
   */
  constructor(folder: string | null, present: () => RunRecord, failed: (error: unknown) => void) {
    this.#present = present;
    this.#failed = failed;
    this.#file = folder === null ? null : join(folder, 'run.json');
  }

  /** Something has changed: it is written soon. */
  touch(): void {
    if (this.#file === null || this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#write(this.#present());
    }, WRITE_EVERY_MS).unref();
  }

  /** The last word. Resolves when it is on disk, or could not be written. */
  async close(record: RunRecord): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#write(record);
    await this.#writing;
  }

  #write(record: RunRecord): void {
    const file = this.#file;
    if (file === null) return;
    this.#writing = this.#writing
      .then(() => writeWhole(file, recordText(record)))
      .catch((error: unknown) => this.#failed(error));
  }
}

/** A record as its file has it. */
export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Writes beside, to the disk, and moves into place: whatever crashes, the file is the old one or the new one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}.tmp`;
  const handle = await open(beside, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
}

/** The record in a run's folder; null when there is none that can be read as one of this version. */
export function readRecord(folder: string): RunRecord | null {
  try {
    return runRecord.parse(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')));
  } catch {
    return null;
  }
}
