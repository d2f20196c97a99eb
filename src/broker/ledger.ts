import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lease } from '../lease/lease.ts';
import { type LedgerContent, type LedgerEntry, ledgerFileName } from './ledger-file.ts';
import type { Log } from './log.ts';

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
  private readonly entries = new Map<string, LedgerEntry>();
  private readonly pools = new Set<string>();
  private readonly file: string | null;
  private failed = false;

  /** @param owner null: nothing is written (the emulator of a run ends with the run) */
  constructor(
    private readonly owner: LedgerOwner | null,
    private readonly log: Log,
  ) {
    this.file = owner && join(owner.folder, ledgerFileName(owner.content.runId, randomBytes(4).toString('hex')));
  }

  /** A browser is about to be asked for; `request` marks the note that its session will carry. */
  asked(request: string, poolId: string | null): void {
    this.entries.set(request, { request, poolId, leaseId: null, sessionId: null });
    this.write();
  }

  /** It was got. */
  got(request: string, lease: Pick<Lease, 'poolId' | 'leaseId' | 'sessionId'>): void {
    const { poolId, leaseId, sessionId } = lease;
    this.entries.set(request, { request, poolId, leaseId, sessionId });
    this.write();
  }

  /** The service confirmed its end, or that there never was one. */
  settled(request: string): void {
    if (this.entries.delete(request)) this.write();
  }

  /** A pool of this run is about to be made under this name. */
  poolAsked(name: string): void {
    this.pools.add(name);
    this.write();
  }

  poolGone(name: string): void {
    if (this.pools.delete(name)) this.write();
  }

  /** Requests whose outcome nobody knows. */
  get unanswered(): string[] {
    return [...this.entries.values()].filter(({ sessionId }) => sessionId === null).map(({ request }) => request);
  }

  /** Says that the broker is alive, to those who cannot ask it (another container on the same folder). */
  beat(): void {
    if (this.entries.size > 0 || this.pools.size > 0) this.write();
  }

  private write(): void {
    if (!this.owner || !this.file || this.failed) return;
    try {
      if (this.entries.size === 0 && this.pools.size === 0) {
        rmSync(this.file, { force: true });
        return;
      }
      const content: LedgerContent = {
        schema: 1,
        ...this.owner.content,
        beatAt: new Date().toISOString(),
        pools: [...this.pools],
        entries: [...this.entries.values()],
      };
      mkdirSync(this.owner.folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${this.file}.tmp`, `${JSON.stringify(content, null, 1)}\n`, { mode: 0o600 });
      renameSync(`${this.file}.tmp`, this.file);
    } catch (error) {
      // The run is worth more than its ledger; its sessions' notes still tell whose they are.
      this.failed = true;
      this.log.error(`no ledger of this run's browsers: ${this.owner.folder} cannot be written`, error);
    }
  }
}

/** Tells workspaces apart without telling the key. */
export function workspaceMark(apiKey: string): string {
  return createHash('sha256').update(`poolwright workspace ${apiKey}`).digest('hex').slice(0, 16);
}
