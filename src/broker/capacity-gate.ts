import { parseNote } from '../lease/note.ts';
import { pause } from '../lease/pause.ts';
import type { ServiceClient } from '../service/index.ts';
import { WaitingLine } from '../service/waiting-line.ts';

/** How often the session list is looked at while requests are parked, in ms; up to half as much is added at random. */
const WATCH_INTERVAL_MS = 4_000;
/** A run that holds the whole limit lets others go first by this much, in ms; one that holds nothing does not wait. */
const POLITENESS_MS = 4_000;

/** What the session list said last. */
export interface Capacity {
  /** Browsers that run, starting ones included. */
  running: number;
  /** By whom: `6 of this run`, `3 of run gh-12.1`, `1 without a note of poolwright`. */
  holders: string;
}

/** Whose gate it is. */
export interface GateOptions {
  client: ServiceClient;
  runId: string;
  /** How many browsers this broker holds. */
  held(): number;
}

/**
 * Parks requests that the service refused with `403 Session limit reached`, and wakes them: one when a browser of this
 * run ends, and as many as there is room for when the session list shows fewer running than the plan allows. While
 * some are parked, new ones join the line without asking. Never asks to create in a loop (section 7 of the service
 * document).
 */
export class CapacityGate {
  /** `plan.concurrent_browsers`; null while it is not known. */
  limit: number | null = null;

  private readonly line = new WaitingLine();
  private watching: AbortController | null = null;
  private last: Capacity | null = null;

  constructor(private readonly options: GateOptions) {}

  /** What is known of the limit, for a message. */
  async describe(signal: AbortSignal): Promise<string> {
    const capacity = (await this.look(signal)) ?? this.last;
    const limit = this.limit === null ? 'its concurrent-browser limit' : `its limit of ${this.limit} browsers`;
    return capacity
      ? `the workspace is at ${limit}, and ${capacity.running} run: ${capacity.holders}`
      : `the workspace is at ${limit}`;
  }

  /** Resolves at once while there may be room; in line behind the parked ones otherwise. */
  async enter(signal: AbortSignal): Promise<void> {
    const full = this.limit !== null && this.options.held() >= this.limit;
    if (full || this.line.length > 0) await this.wait(signal);
  }

  /** Resolves when it is this request's turn to ask again; rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    const turn = this.line.join(signal);
    if (!this.watching) void this.watch();
    try {
      await turn;
    } finally {
      if (this.line.length === 0) this.stopWatching();
    }
  }

  /** A browser of this run has ended: its slot is free for the request that waits longest. */
  slotFreed(): void {
    this.line.next();
  }

  private stopWatching(): void {
    this.watching?.abort(new Error('nobody waits'));
    this.watching = null;
  }

  private async watch(): Promise<void> {
    const watching = new AbortController();
    this.watching = watching;
    const { signal } = watching;
    let before: number | null = null;
    while (!signal.aborted) {
      try {
        const seen = await this.look(signal);
        if (seen) {
          await this.wakeFor(this.limit === null ? smallerBy(before, seen.running) : this.limit - seen.running, signal);
          before = seen.running;
        }
        await pause(WATCH_INTERVAL_MS * (1 + Math.random() / 2), signal);
      } catch {
        // Nobody waits any more: the signal says so, and ends the loop.
      }
    }
  }

  /** Lets so many ask. Whoever holds many browsers waits a little, so that a run that has none comes first. */
  private async wakeFor(free: number, signal: AbortSignal): Promise<void> {
    if (free <= 0) return;
    const share = this.limit ? Math.min(1, this.options.held() / this.limit) : 0;
    await pause(POLITENESS_MS * share + Math.random() * 250, signal);
    for (let n = 0; n < free; n += 1) this.slotFreed();
  }

  /** Null when the list could not be had this time. */
  private async look(signal: AbortSignal): Promise<Capacity | null> {
    try {
      const holders = new Map<string, number>();
      let running = 0;
      for (const status of ['active', 'starting'] as const) {
        for await (const { note } of this.options.client.iterateSessions({ status, pageSize: 100 }, { signal })) {
          running += 1;
          const holder = this.holderOf(note);
          holders.set(holder, (holders.get(holder) ?? 0) + 1);
        }
      }
      const list = [...holders].sort(([, a], [, b]) => b - a).map(([holder, count]) => `${count} ${holder}`);
      this.last = { running, holders: list.join(', ') || 'none' };
      return this.last;
    } catch {
      return null;
    }
  }

  private holderOf(note: string | null | undefined): string {
    const parsed = parseNote(note);
    if (!parsed) return 'without a note of poolwright';
    const whose = parsed.runId === this.options.runId ? 'this run' : `run ${parsed.runId}`;
    return `of ${whose}${parsed.shard === '1/1' ? '' : ` (shard ${parsed.shard})`}`;
  }
}

function smallerBy(before: number | null, now: number): number {
  return before === null ? 0 : before - now;
}
