import type { Clock } from '../../common/clock.ts';
import { type HeldBrowser, idle, isFresh } from '../browsers/held-browser.ts';
import { suits, type WorkerRequest } from './worker-request.ts';

/** How long to keep an idle browser while the remaining tests are unknown, in ms: the time a worker takes to start. */
export const IDLE_MS = 30_000;
/** How often to check whether an idle browser blocks requests for other plans, in ms. */
const LOOK_MS = 5_000;

/** Callbacks of {@link IdleBrowsers}. */
export interface IdleActions {
  end(held: HeldBrowser, reason: 'idle' | 'expired'): void;
  /** Whether remaining tests can use it. If so, it is kept without a time limit. */
  hasTests(held: HeldBrowser): boolean;
  /** Whether workers wait for browsers of another plan and the service has none for them. */
  othersStarve(): boolean;
  /** The worker for which this browser was prefetched never asked for it. */
  unusedPrefetch(): void;
}

/** The idle browsers of one plan. */
export class IdleBrowsers {
  readonly #all = new Set<HeldBrowser>();
  /** Those among them that no worker has used. */
  readonly #fresh = new Set<HeldBrowser>();

  readonly #actions: IdleActions;
  readonly #clock: Clock;
  readonly #idleMs: number;

  /** @param idleMs time limit while the remaining tests are unknown; at least a worker's start */
  constructor(actions: IdleActions, clock: Clock, idleMs: number) {
    this.#actions = actions;
    this.#clock = clock;
    this.#idleMs = Math.max(idleMs, IDLE_MS);
  }

  /** Number of browsers that no worker has used. */
  get fresh(): number {
    return this.#fresh.size;
  }

  /** Number of browsers that a worker has used. */
  get used(): number {
    return this.#all.size - this.#fresh.size;
  }

  /**
   * Returns a suitable browser for this request, preferably one of the same slot; null if there is none. Ends browsers
   * that are too old for the request.
   */
  best(request: WorkerRequest): HeldBrowser | null {
    const now = this.#clock.now();
    let best: HeldBrowser | null = null;
    for (const held of this.#all) {
      if (request.prefetch && !isFresh(held)) continue;
      if (suits(held, request, now)) {
        if (held.slot.index === request.slot.index && best?.slot.index !== request.slot.index) best = held;
        best ??= held;
      } else if (!request.prefetch && !suits(held, { ...request, takesUsed: true }, now)) this.discard(held, 'expired');
    }
    return best;
  }

  /** Marks a browser as idle. */
  keep(held: HeldBrowser): void {
    this.#all.add(held);
    if (isFresh(held)) this.#fresh.add(held);
    this.#lookAfter(held, this.#clock.now());
  }

  /** Removes a browser that is leased or about to end. */
  delete(held: HeldBrowser): void {
    this.#all.delete(held);
    this.#fresh.delete(held);
  }

  discard(held: HeldBrowser, reason: 'idle' | 'expired'): void {
    this.delete(held);
    this.#actions.end(held, reason);
  }

  /** Ends surplus browsers, those that expire first before the others. */
  keepMost(most: { used: number; fresh: number }): void {
    const endOf = ({ browser }: HeldBrowser) => browser.expiresAt.getTime();
    for (const kind of ['used', 'fresh'] as const) {
      const surplus = this[kind] - most[kind];
      if (surplus <= 0) continue;
      const all = [...this.#all].filter((held) => isFresh(held) === (kind === 'fresh'));
      for (const held of all.sort((a, b) => endOf(a) - endOf(b)).slice(0, surplus)) this.discard(held, 'idle');
    }
  }

  #lookAfter(held: HeldBrowser, since: number): void {
    const look = () => {
      const isOver = this.#clock.now() - since >= this.#idleMs && !this.#actions.hasTests(held);
      if (!isOver && !this.#actions.othersStarve()) return this.#lookAfter(held, since);
      if (isFresh(held)) this.#actions.unusedPrefetch();
      this.discard(held, 'idle');
    };
    idle(held, this.#clock.after(LOOK_MS, look));
  }
}
