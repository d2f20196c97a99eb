import type { Clock } from '../../common/clock.ts';
import { type HeldBrowser, idle, isFresh } from '../browsers/held-browser.ts';
import { suits, type WorkerRequest } from './waiters.ts';

/** How long to keep an idle browser, in ms: the time a worker takes to start. */
const IDLE_MS = 30_000;
/** How often to check whether an idle browser blocks requests for other plans, in ms. */
const LOOK_MS = 5_000;

/** Callbacks of {@link IdleBrowsers}. */
export interface IdleActions {
  end(held: HeldBrowser, reason: 'idle' | 'expired'): void;
  /** Whether workers wait for browsers of another plan and the service has none for them. */
  othersStarve(): boolean;
  /** No worker took a browser in time, or another plan needs its place: it is being ended. */
  notTaken(): void;
}

/** The idle browsers of one plan. */
export class IdleBrowsers {
  readonly #all = new Set<HeldBrowser>();
  readonly #actions: IdleActions;
  readonly #clock: Clock;
  readonly #idleMs: number;

  /** @param idleMs how long each is kept at most; at least a worker's start */
  constructor(actions: IdleActions, clock: Clock, idleMs: number) {
    this.#actions = actions;
    this.#clock = clock;
    this.#idleMs = Math.max(idleMs, IDLE_MS);
  }

  /** Number of browsers that no worker has used. */
  get fresh(): number {
    return [...this.#all].filter(isFresh).length;
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
      } else if (!request.prefetch && !suits(held, { ...request, takesUsed: true }, now))
        this.#discard(held, 'expired');
    }
    return best;
  }

  keep(held: HeldBrowser): void {
    this.#all.add(held);
    this.#lookAfter(held, this.#clock.now());
  }

  /** Removes a browser that is leased or about to end. */
  delete(held: HeldBrowser): void {
    this.#all.delete(held);
  }

  /** Ends surplus browsers, those that expire first before the others. */
  keepMost(most: number): void {
    if (this.#all.size <= most) return;
    const endOf = ({ browser }: HeldBrowser) => browser.expiresAt.getTime();
    const lastFirst = [...this.#all].sort((a, b) => endOf(b) - endOf(a));
    for (const held of lastFirst.slice(most)) this.#discard(held, 'idle');
  }

  #discard(held: HeldBrowser, reason: 'idle' | 'expired'): void {
    this.delete(held);
    this.#actions.end(held, reason);
  }

  #lookAfter(held: HeldBrowser, since: number): void {
    const look = () => {
      const isTooOld = this.#clock.now() - since >= this.#idleMs;
      if (!isTooOld && !this.#actions.othersStarve()) return this.#lookAfter(held, since);
      this.#discard(held, 'idle');
      this.#actions.notTaken();
    };
    idle(held, this.#clock.after(LOOK_MS, look));
  }
}
