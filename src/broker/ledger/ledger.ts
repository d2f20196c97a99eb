import { randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endable } from '../../providers/port.ts';
import type { Log } from '../log/log.ts';
import { type LedgerChange, type LedgerContent, type LedgerEntry, ledgerFileName, ledgerLine } from './ledger-file.ts';

/** Maximum time until the next write after a failed one, in ms. */
const RETRY_MS = 5_000;
/** After this many changes the file is rewritten: it stays small, however many browsers a run uses. */
const MOST_CHANGES = 1_000;
/** Appends to an existing file only: if it was removed, the ledger is rewritten as a whole. */
const APPEND = constants.O_WRONLY | constants.O_APPEND;

export interface LedgerOwner {
  /** Directory of this project's ledgers. */
  directory: string;
  content: Omit<LedgerContent, 'schema' | 'beatAt' | 'entries' | 'pools'>;
}

/**
 * Everything that a broker has requested and whose end is not confirmed, on disk before the request is sent. After the
 * broker's death, any process that finds the ledger can give everything back. The file is first written as a whole and
 * moved into place; then each change is appended as a line. An incomplete line is ignored, so the ledger is always
 * consistent.
 */
export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #pools = new Set<string>();
  readonly #file: string | null;
  /** Number of changes in the file; null: there is no file, or its content is uncertain. */
  #changes: number | null = null;
  /** Whether the last write failed, which is already logged. */
  #failing = false;
  #cancelRetry: (() => void) | null = null;

  readonly #owner: LedgerOwner | null;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #later: typeof callLater;

  /**
   * @param owner null: nothing is written (the emulator of a run ends with the run)
   * @param now the service's clock, in ms since the epoch
   * @param later calls back after a delay in ms; the returned function cancels this
   */
  constructor(owner: LedgerOwner | null, log: Log, now: () => number = Date.now, later: typeof callLater = callLater) {
    this.#owner = owner;
    this.#log = log;
    this.#now = now;
    this.#later = later;
    this.#file = owner && join(owner.directory, ledgerFileName(owner.content.runId, randomBytes(4).toString('hex')));
  }

  /** A browser is about to be requested; `request` is part of its session's note. */
  asked(request: string, poolId: string | null): void {
    this.#set({ request, poolId, leaseId: null, sessionId: null });
  }

  /** The browser was acquired. Returns whether that is on disk. */
  got(request: string, { poolId, leaseId, sessionId }: Endable): boolean {
    this.#set({ request, poolId, leaseId, sessionId });
    return this.#file !== null && !this.#failing;
  }

  /** The service confirmed the browser's end, or that it never existed. */
  settled(request: string): void {
    if (this.#entries.delete(request)) this.#write({ settled: request });
  }

  /** A pool of this run is about to be created under this name. */
  poolAsked(name: string): void {
    this.#pools.add(name);
    this.#write({ pool: name });
  }

  poolGone(name: string): void {
    if (this.#pools.delete(name)) this.#write({ poolGone: name });
  }

  get entries(): readonly Readonly<LedgerEntry>[] {
    return [...this.#entries.values()];
  }

  /**
   * Records that the broker is alive, for processes that cannot reach its socket (another container with the same
   * directory).
   */
  beat(): void {
    if (this.#entries.size > 0 || this.#pools.size > 0 || this.#failing) this.#write({});
  }

  #set(entry: LedgerEntry): void {
    this.#entries.set(entry.request, entry);
    this.#write({ entry });
  }

  #write(change: Omit<LedgerChange, 'beatAt'>): void {
    const owner = this.#owner;
    const file = this.#file;
    if (!owner || !file) return;
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    const beatAt = new Date(this.#now()).toISOString();
    try {
      if (this.#entries.size === 0 && this.#pools.size === 0) this.#remove(file);
      else if (!this.#append(file, { beatAt, ...change })) this.#writeAtomically(owner, file, beatAt);
    } catch (error) {
      // The run is more important than its ledger; the notes of its sessions still name their owner.
      if (!this.#failing)
        this.#log.error(`${file} cannot be written: it does not name all browsers of this run`, error);
      this.#failing = true;
      this.#removeIncomplete(file);
      this.#cancelRetry = this.#later(() => this.#write({}), RETRY_MS);
      return;
    }
    if (this.#failing) this.#log.notice(`${file} can be written again`);
    this.#failing = false;
  }

  #remove(file: string): void {
    this.#changes = null;
    for (const each of [file, `${file}.tmp`]) rmSync(each, { force: true });
  }

  /** Returns false if the whole ledger must be written. */
  #append(file: string, change: LedgerChange): boolean {
    if (this.#changes === null || this.#changes >= MOST_CHANGES) return false;
    try {
      const open = openSync(file, APPEND);
      try {
        writeFileSync(open, ledgerLine(change));
      } finally {
        closeSync(open);
      }
      this.#changes += 1;
      return true;
    } catch {
      // The incomplete line is invalid; a whole file replaces it, now or when the disk has space again.
      this.#changes = null;
      return false;
    }
  }

  /** Removes the incomplete file from a full disk. */
  #removeIncomplete(file: string): void {
    try {
      rmSync(`${file}.tmp`, { force: true });
    } catch {
      // The next write replaces it.
    }
  }

  #writeAtomically({ directory, content }: LedgerOwner, file: string, beatAt: string): void {
    this.#changes = null;
    const whole: LedgerContent = {
      schema: 1,
      ...content,
      beatAt,
      pools: [...this.#pools],
      entries: [...this.#entries.values()],
    };
    const write = () => writeFileSync(`${file}.tmp`, ledgerLine(whole), { mode: 0o600 });
    try {
      write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      write();
    }
    renameSync(`${file}.tmp`, file);
    this.#changes = 0;
  }
}

function callLater(back: () => void, ms: number): () => void {
  const timer = setTimeout(back, ms).unref();
  return () => clearTimeout(timer);
}
