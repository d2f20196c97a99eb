import type { Clock } from '../../../common/clock.ts';
import { pause } from '../../../common/pause.ts';
import type { BrowserProvider } from '../../../providers/port.ts';
import { parseNote } from '../../browsers/session-note.ts';

/** How often to read the session list while requests are parked, in ms, plus a random part of up to half as much. */
const WATCH_INTERVAL_MS = 4_000;
/**
 * A run that uses the whole limit waits this long so that others go first, in ms; one that holds no browser does not
 * wait.
 */
const POLITENESS_MS = 4_000;

/** Options of {@link CapacityWatch}. */
export interface WatchOptions {
  provider: Pick<BrowserProvider, 'list'>;
  runId: string;
  /** How many browsers may run at the same time; null: unknown. */
  limit: number | null;
  /** Number of browsers that this broker holds. */
  held(): number;
  /** Whether this broker acquired the session: it reports the end of its sessions itself. */
  owns(sessionId: string): boolean;
  clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
}

/**
 * Watches the session list while requests are parked at the limit. The list does not show everything that counts: warm
 * browsers are missing. Apparent room in the list therefore justifies only a single request, because a session may have
 * ended before the first look.
 */
export class CapacityWatch {
  #watching: AbortController | null = null;
  #last: Running | null = null;
  /** How many sessions the list showed when the service refused despite apparent room; null: this never happened. */
  #refusedAt: number | null = null;
  /** Whether a request was refused since the last look: a session may have ended unseen between the two. */
  #refusedSinceLook = false;
  readonly #options: WatchOptions;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Describes the limit and what uses it, for a message. */
  async describe(signal: AbortSignal): Promise<string> {
    const running = (await this.#look(signal)) ?? this.#last;
    const { limit: known } = this.#options;
    const limit = known === null ? 'its concurrent-browser limit' : `its limit of ${known} browsers`;
    return running
      ? `the workspace is at ${limit}, and ${running.ids.size} run: ${running.holders}`
      : `the workspace is at ${limit}`;
  }

  /**
   * Starts the watch, unless it runs already.
   * @param onRoom called with the number of foreign sessions that ended, and with how many more the list has room for
   */
  start(onRoom: (ended: number, maybe: number) => void): void {
    if (!this.#watching) void this.#watch(onRoom);
  }

  stop(): void {
    this.#watching?.abort(new Error('no request is parked'));
    this.#watching = null;
  }

  /**
   * Records a refusal because of the limit. @param onRoom whether only apparent room in the list justified the request
   */
  refused(onRoom: boolean): void {
    this.#refusedSinceLook = true;
    if (onRoom) this.#refusedAt = this.#last?.ids.size ?? null;
  }

  /** Records a granted request. */
  granted(): void {
    this.#refusedAt = null;
  }

  async #watch(onRoom: (ended: number, maybe: number) => void): Promise<void> {
    const watching = new AbortController();
    this.#watching = watching;
    const { signal } = watching;
    const { clock, random } = this.#options;
    let before: Running | null = null;
    while (!signal.aborted) {
      try {
        const seen = await this.#look(signal);
        if (seen) await this.#compare(before, seen, signal, onRoom);
        before = seen ?? before;
        await pause(WATCH_INTERVAL_MS * (1 + random() / 2), signal, clock);
      } catch {
        // No request is parked any more: the aborted signal ends the loop.
      }
    }
  }

  /** A run that holds many browsers waits a little before it asks, so that a run without browsers goes first. */
  async #compare(
    before: Running | null,
    seen: Running,
    signal: AbortSignal,
    onRoom: (ended: number, maybe: number) => void,
  ): Promise<void> {
    const { limit: known, held, owns, clock, random } = this.#options;
    const limit = known ?? Number.POSITIVE_INFINITY;
    const ended = before ? [...before.ids].filter((id) => !seen.ids.has(id) && !owns(id)).length : 0;
    const free = Math.max(0, Math.min(limit - seen.ids.size, ended));
    const first = before === null || this.#refusedSinceLook;
    this.#refusedSinceLook = false;
    const maybe = !first || free > 0 ? 0 : Math.min(limit, this.#refusedAt ?? Number.POSITIVE_INFINITY) - seen.ids.size;
    if (free <= 0 && maybe <= 0) return;
    const share = known ? Math.min(1, held() / known) : 0;
    await pause(POLITENESS_MS * share + random() * 250, signal, clock);
    onRoom(free, maybe);
  }

  /** Returns null if the list cannot be read this time. */
  async #look(signal: AbortSignal): Promise<Running | null> {
    const { provider, runId } = this.#options;
    const seen = await listRunning(provider, runId, signal);
    this.#last = seen ?? this.#last;
    return seen;
  }
}

/** The content of the session list. */
export interface Running {
  /** Running sessions, including those that are starting. */
  ids: ReadonlySet<string>;
  /** Their owners: `6 of this run`, `3 of run gh-12.1`, `1 without a note of poolwright`. */
  holders: string;
}

/** Lists all running sessions of the workspace; null if the list cannot be read this time. */
export async function listRunning(
  provider: Pick<BrowserProvider, 'list'>,
  runId: string,
  signal: AbortSignal,
): Promise<Running | null> {
  try {
    const ids = new Set<string>();
    const counts = new Map<string, number>();
    for await (const { sessionId, note } of provider.list(signal)) {
      ids.add(sessionId);
      const holder = holderOf(note, runId);
      counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    const list = [...counts].sort(([, a], [, b]) => b - a).map(([holder, count]) => `${count} ${holder}`);
    return { ids, holders: list.join(', ') || 'none' };
  } catch {
    return null;
  }
}

function holderOf(note: string | null | undefined, runId: string): string {
  const parsed = parseNote(note);
  if (!parsed) return 'without a note of poolwright';
  const run = parsed.runId === runId ? 'this run' : `run ${parsed.runId}`;
  return `of ${run}${parsed.shard === '1/1' ? '' : ` (shard ${parsed.shard})`}`;
}
