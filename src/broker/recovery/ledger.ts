import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endable } from '../../lease/end-lease.ts';
import type { Log } from '../process/log.ts';
import { type LedgerContent, type LedgerEntry, ledgerFileName } from './ledger-file.ts';

/** After a failed write the next one follows at the latest after so long, in ms. */
const RETRY_MS = 5_000;

/** Whose ledger it is. */
export interface LedgerOwner {
  /** Where this project's ledgers lie. */
  folder: string;
  content: Omit<LedgerContent, 'schema' | 'beatAt' | 'entries' | 'pools'>;
}

/**
 * What a broker has asked for and not yet seen ended, on disk before the request goes out. Whoever finds it after the
 * broker's death can give everything back. Written whole and moved into place, so that it is never half of a file.
 */
export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #pools = new Set<string>();
  readonly #file: string | null;
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
    this.#entries.set(request, { request, poolId, leaseId: null, sessionId: null });
    this.#write();
  }

  /** It was got. */
  got(request: string, { poolId, leaseId, sessionId }: Endable): void {
    this.#entries.set(request, { request, poolId, leaseId, sessionId });
    this.#write();
  }

  /** The service confirmed its end, or that there never was one. */
  settled(request: string): void {
    if (this.#entries.delete(request)) this.#write();
  }

  /** A pool of this run is about to be made under this name. */
  poolAsked(name: string): void {
    this.#pools.add(name);
    this.#write();
  }

  poolGone(name: string): void {
    if (this.#pools.delete(name)) this.#write();
  }

  /** Requests whose outcome nobody knows. */
  get unanswered(): string[] {
    return [...this.#entries.values()].filter(({ sessionId }) => sessionId === null).map(({ request }) => request);
  }

  /** Says that the broker is alive, to those who cannot ask it (another container on the same folder). */
  beat(): void {
    if (this.#entries.size > 0 || this.#pools.size > 0 || this.#failing) this.#write();
  }

  #write(): void {
    const owner = this.#owner;
    const file = this.#file;
    if (!owner || !file) return;
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    try {
      if (this.#entries.size > 0 || this.#pools.size > 0) this.#writeWhole(owner, file);
      else for (const each of [file, `${file}.tmp`]) rmSync(each, { force: true });
    } catch (error) {
      // The run is worth more than its ledger; its sessions' notes still tell whose they are.
      if (!this.#failing)
        this.#log.error(`${file} cannot be written: it does not name all browsers of this run`, error);
      this.#failing = true;
      this.#removeHalf(file);
      this.#cancelRetry = this.#later(() => this.#write(), RETRY_MS);
      return;
    }
    if (this.#failing) this.#log.notice(`${file} can be written again`);
    this.#failing = false;
  }

  /** What could be written of it on a full disk. */
  #removeHalf(file: string): void {
    try {
      rmSync(`${file}.tmp`, { force: true });
    } catch {
      // The next write replaces it.
    }
  }

  #writeWhole({ folder, content }: LedgerOwner, file: string): void {
    const whole: LedgerContent = {
      schema: 1,
      ...content,
      beatAt: new Date(this.#now()).toISOString(),
      pools: [...this.#pools],
      entries: [...this.#entries.values()],
    };
    const write = () => writeFileSync(`${file}.tmp`, `${JSON.stringify(whole, null, 1)}\n`, { mode: 0o600 });
    try {
      write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      write();
    }
    renameSync(`${file}.tmp`, file);
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
