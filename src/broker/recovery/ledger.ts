import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endable } from '../../lease/end-lease.ts';
import type { Log } from '../process/log.ts';
import { type LedgerChange, type LedgerContent, type LedgerEntry, ledgerFileName, ledgerLine } from './ledger-file.ts';

/** After a failed write the next one follows at the latest after so long, in ms. */
const RETRY_MS = 5_000;
/** After so many changes it is written whole again: it stays small, however many browsers a run has had. */
const MOST_CHANGES = 1_000;
/** At the end of a file that is there: one that somebody has removed is written whole. */
const APPEND = constants.O_WRONLY | constants.O_APPEND;

/** Whose ledger it is. */
export interface LedgerOwner {
  /** Where this project's ledgers lie. */
  folder: string;
  content: Omit<LedgerContent, 'schema' | 'beatAt' | 'entries' | 'pools'>;
}

/**
 * What a broker has asked for and not yet seen ended, on disk before the request goes out. Whoever finds it after the
 * broker's death can give everything back. Its file is written whole and moved into place, then each change is a line at
 * its end; half of a line counts for nothing, so that it is never half of a ledger.
 */
export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #pools = new Set<string>();
  readonly #file: string | null;
  /** Lines behind the first of the file; null: there is no file, or it is not known to be true. */
  #changes: number | null = null;
  /** Whether the last write failed, which has been said. */
  #failing = false;
  #cancelRetry: (() => void) | null = null;

  readonly #owner: LedgerOwner | null;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #later: typeof callLater;

  /**
   * @param owner null: nothing is written (the emulator of a run ends with the run)
   * @param now the service's clock, in ms since the epoch
   * @param later calls back after so many ms, unless what it returns is called before
   */
  constructor(owner: LedgerOwner | null, log: Log, now: () => number = Date.now, later: typeof callLater = callLater) {
    this.#owner = owner;
    this.#log = log;
    this.#now = now;
    this.#later = later;

    this.#file = owner && join(owner.folder, ledgerFileName(owner.content.runId, randomBytes(4).toString('hex')));
  }

  /** A browser is about to be asked for; `request` marks the note that its session will carry. */
  asked(request: string, poolId: string | null): void {
    this.#set({ request, poolId, leaseId: null, sessionId: null });
  }

  /** It was got. */
  got(request: string, { poolId, leaseId, sessionId }: Endable): void {
    this.#set({ request, poolId, leaseId, sessionId });
  }

  /** The service confirmed its end, or that there never was one. */
  settled(request: string): void {
    if (this.#entries.delete(request)) this.#write({ settled: request });
  }

  /** A pool of this run is about to be made under this name. */
  poolAsked(name: string): void {
    this.#pools.add(name);
    this.#write({ pool: name });
  }

  poolGone(name: string): void {
    if (this.#pools.delete(name)) this.#write({ poolGone: name });
  }

  /** Requests whose outcome nobody knows. */
  get unanswered(): string[] {
    return [...this.#entries.values()].filter(({ sessionId }) => sessionId === null).map(({ request }) => request);
  }

  /** Says that the broker is alive, to those who cannot ask it (another container on the same folder). */
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
      else if (!this.#append(file, { beatAt, ...change })) this.#writeWhole(owner, file, beatAt);
    } catch (error) {
      // The run is worth more than its ledger; its sessions' notes still tell whose they are.
      if (!this.#failing)
        this.#log.error(`${file} cannot be written: it does not name all browsers of this run`, error);
      this.#failing = true;
      this.#removeHalf(file);
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

  /** False: the ledger is to be written whole. */
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
      // What there is of the line is no line; a whole file replaces it, here or when there is room.
      this.#changes = null;
      return false;
    }
  }

  /** What could be written of it on a full disk. */
  #removeHalf(file: string): void {
    try {
      rmSync(`${file}.tmp`, { force: true });
    } catch {
      // The next write replaces it.
    }
  }

  #writeWhole({ folder, content }: LedgerOwner, file: string, beatAt: string): void {
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
      mkdirSync(folder, { recursive: true, mode: 0o700 });
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

/** Tells workspaces apart without telling the key. */
export function workspaceMark(apiKey: string): string {
  return createHash('sha256').update(`poolwright workspace ${apiKey}`).digest('hex').slice(0, 16);
}
