import type { Clock } from '../../../common/clock.ts';
import { type HeldBrowser, idle, isFresh } from '../../browsers/held-browser.ts';
import { type Asked, suits } from './asked.ts';

/** How long an idle browser is kept where it is not known which tests are still to come, in ms: a worker's start. */
const IDLE_MS = 30_000;
/** How often it is looked whether an idle browser keeps others of the run from theirs, in ms. */
const LOOK_MS = 5_000;

/** What becomes of idle browsers. */
export interface IdleActions {
  end(held: HeldBrowser, reason: 'idle' | 'expired'): void;
  /** Whether tests are to come that can use it; then it is kept without a bound. */
  hasTests(held: HeldBrowser): boolean;
  /** Whether workers wait for browsers of another plan, and the service has none for them. */
  othersStarve(): boolean;
  /** The worker that a browser was fetched for has not come. */
  unclaimed(): void;
}

/** The idle browsers of one plan. */
export class IdleBrowsers {
  readonly #all = new Set<HeldBrowser>();

  readonly #actions: IdleActions;
  readonly #clock: Clock;
  readonly #idleMs: number;

  /** @param idleMs bound while it is not known which tests are to come; 0: a worker's start */
  constructor(actions: IdleActions, clock: Clock, idleMs: number) {
    this.#actions = actions;
    this.#clock = clock;
    this.#idleMs = Math.max(idleMs, IDLE_MS);
  }

  /** Those that no worker has used. */
  get fresh(): HeldBrowser[] {
    return [...this.#all].filter(isFresh);
  }

  get used(): HeldBrowser[] {
    return [...this.#all].filter((held) => !isFresh(held));
  }

  /** One for this request, the same slot's before any other; null: none will do. Those that are too old for any are ended. */
  best(asked: Asked): HeldBrowser | null {
    const now = this.#clock.now();
    let best: HeldBrowser | null = null;
    for (const held of this.#all) {
      if (asked.ahead && !isFresh(held)) continue;
      if (suits(held, asked, now)) {
        if (held.slot.index === asked.slot.index && best?.slot.index !== asked.slot.index) best = held;
        best ??= held;
      } else if (!asked.ahead && !suits(held, { ...asked, takesUsed: true }, now)) this.discard(held, 'expired');
    }
    return best;
  }

  /** A browser is idle from now on. */
  keep(held: HeldBrowser): void {
    this.#all.add(held);
    this.#lookAfter(held, this.#clock.now());
  }

  /** A browser is lent, or being ended. */
  delete(held: HeldBrowser): void {
    this.#all.delete(held);
  }

  discard(held: HeldBrowser, reason: 'idle' | 'expired'): void {
    this.#all.delete(held);
    this.#actions.end(held, reason);
  }

  /** Ends those that are of no use. Of several, the ones that would end first. */
  keepMost(most: { used: number; fresh: number }): void {
    for (const kind of ['used', 'fresh'] as const) {
      const endOf = ({ browser }: HeldBrowser) => browser.expiresAt.getTime();
      const all = this[kind].sort((a, b) => endOf(a) - endOf(b));
      for (const held of all.slice(0, Math.max(0, all.length - most[kind]))) this.discard(held, 'idle');
    }
  }

  #lookAfter(held: HeldBrowser, since: number): void {
    const look = () => {
      const isOver = this.#clock.now() - since >= this.#idleMs && !this.#actions.hasTests(held);
      if (!isOver && !this.#actions.othersStarve()) return this.#lookAfter(held, since);
      if (isFresh(held)) this.#actions.unclaimed();
      this.discard(held, 'idle');
    };
    idle(held, this.#clock.after(LOOK_MS, look));
  }
}
