import type { Clock } from '../../common/clock.ts';
import { type Fetch, SurplusFetch } from '../browsers/fetch.ts';
import {
  claim,
  type HeldBrowser,
  type Holder,
  idle,
  isFresh,
  lasts,
  type WorkerSlot,
} from '../browsers/held-browser.ts';

/** A worker's request for a browser. */
export interface Asked {
  readonly holder: Holder;
  readonly slot: WorkerSlot;
  /** How long the browser must last at least, in ms. */
  readonly needMs: number;
  /** Whether it takes one that another worker has used. */
  readonly takesUsed: boolean;
  /** Whether it is for later: who needs a browser now comes first, and so do workers that are being started. */
  readonly ahead: boolean;
}

/** A worker that waits for a browser. */
interface Waiter extends Asked {
  readonly since: number;
  resolve(held: HeldBrowser): void;
  reject(error: unknown): void;
}

/** What a supply has done for it. */
export interface SupplyActions {
  /** @param yields whether no worker waits for it now */
  fetch(slot: WorkerSlot, yields: () => boolean): Fetch;
  end(held: HeldBrowser, reason: 'idle' | 'expired'): void;
  /** A fetch failed that was for a worker which has not asked yet. */
  failedUnseen(error: unknown): void;
}

/** How long a browser waits that nobody is known to need, in ms. */
const IDLE_MS = 5_000;
/** How long it waits for the worker that replaces its last one, in ms: a busy machine takes a while to start one. */
const REPLACED_IDLE_MS = 15_000;
/** How long one that was fetched ahead waits for its first worker, which Playwright is still starting, in ms. */
const AHEAD_IDLE_MS = 30_000;

/**
 * The browsers of one plan: who waits for one, what is on its way, what is idle. As many are fetched as workers wait or
 * are expected; who waits longest gets the next one, whichever it is: a fresh one or one that another worker gave back.
 * Requests ahead get what is fresh and left over.
 */
export class Supply {
  readonly #waiters: Waiter[] = [];
  readonly #fetches = new Set<Fetch>();
  readonly #idle = new Set<HeldBrowser>();
  /** Workers that Playwright will start and that have not asked yet. */
  #expected = 0;

  readonly #actions: SupplyActions;
  readonly #clock: Clock;
  readonly #idleMs: number;

  /** @param idleMs how long a used browser waits at least for the next worker; 0: as long as one takes to start */
  constructor(actions: SupplyActions, clock: Clock, idleMs = 0) {
    this.#actions = actions;
    this.#clock = clock;
    this.#idleMs = idleMs;
  }

  /** Workers that wait. */
  get waiting(): number {
    return this.#inNeed.length;
  }

  /** Who waits longest: for how long, in ms, and what for; null: nobody waits. */
  get longest(): { waitedMs: number; waitsFor: string } | null {
    const [first] = this.#inNeed;
    return first ? { waitedMs: this.#clock.now() - first.since, waitsFor: this.waitsFor } : null;
  }

  /** What is being waited for, in a few words. */
  get waitsFor(): string {
    return this.#oldestFetch?.waitsFor ?? 'waiting for a browser';
  }

  /** The same with everything that helps, found out now. */
  async explain(signal: AbortSignal): Promise<string> {
    return (await this.#oldestFetch?.explain(signal)) ?? this.waitsFor;
  }

  /** Fetches a browser for a worker that will ask soon. */
  prefetch(slot: WorkerSlot): void {
    this.#expected += 1;
    this.#fetchMissing(slot);
  }

  /** A browser that is idle, for a worker; null: it has to wait for the next one. */
  takeIdle(asked: Asked): HeldBrowser | null {
    const best = this.#bestIdle(asked);
    if (!best) return null;
    this.#hasAsked(asked);
    this.#idle.delete(best);
    this.#lend(best, asked, 0);
    this.#settle();
    this.#fetchMissing(asked.slot); // for those that were too old and are gone
    return best;
  }

  /** A browser for a worker: an idle one at once, else the next one. Rejects when `signal` fires. */
  take(asked: Asked, signal: AbortSignal): Promise<HeldBrowser> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const best = this.takeIdle(asked);
    if (best) return Promise.resolve(best);
    this.#hasAsked(asked);
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#waiters.indexOf(waiter);
        if (at >= 0) this.#waiters.splice(at, 1);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        waiter.reject(signal.reason);
        this.#settle();
      };
      const waiter: Waiter = {
        ...asked,
        since: this.#clock.now(),
        resolve: (held) => {
          leave();
          this.#lend(held, asked, this.#clock.now() - waiter.since);
          resolve(held);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      this.#waiters.push(waiter);
      signal.addEventListener('abort', giveUp);
      this.#fetchMissing(asked.slot);
    });
  }

  /** A browser has come back: for who waits longest and can use it, else idle for a while. */
  offer(held: HeldBrowser, toBeReplaced = false): void {
    this.#handOn(held, (waiter) => suits(held, waiter, this.#clock.now()), toBeReplaced);
  }

  /** Every worker that waits gets this error, and nothing more is fetched for them. */
  refuseAll(error: unknown): void {
    this.#expected = 0;
    for (const waiter of [...this.#waiters]) waiter.reject(error);
    this.#settle();
  }

  /** Forgets an idle browser that is being ended. */
  forget(held: HeldBrowser): void {
    this.#idle.delete(held);
  }

  get #inNeed(): Waiter[] {
    return this.#waiters.filter(({ ahead }) => !ahead);
  }

  /** One worker fewer is to come. */
  #hasAsked({ ahead }: Asked): void {
    if (!ahead) this.#expected = Math.max(0, this.#expected - 1);
  }

  #lend(held: HeldBrowser, { holder, slot, ahead }: Asked, waitedMs: number): void {
    claim(held, holder, slot, ahead ? 0 : waitedMs, this.#clock.now());
  }

  /** The one that has been under way longest: what the workers wait for. */
  get #oldestFetch(): Fetch | undefined {
    const [oldest] = this.#fetches;
    return oldest;
  }

  /** Expected workers for whom no browser is here yet. */
  get #unfilled(): number {
    return this.#expected === 0 ? 0 : Math.max(0, this.#expected - this.#freshIdle);
  }

  get #freshIdle(): number {
    let fresh = 0;
    for (const held of this.#idle) if (isFresh(held)) fresh += 1;
    return fresh;
  }

  /** How many browsers shall be on their way. */
  get #wanted(): number {
    return this.#waiters.length + this.#unfilled;
  }

  #fetchMissing(slot: WorkerSlot): void {
    while (this.#fetches.size < this.#wanted) this.#fetch(slot);
  }

  #fetch(slot: WorkerSlot): void {
    // The oldest ones are for those who wait now.
    const yields = () => [...this.#fetches].indexOf(fetch) >= this.waiting;
    const fetch = this.#actions.fetch(slot, yields);
    this.#fetches.add(fetch);
    fetch.browser.then(
      (held) => {
        this.#fetches.delete(fetch);
        // One that just came is as long-lived as they get.
        this.#handOn(held, () => true);
      },
      (error: unknown) => {
        this.#fetches.delete(fetch);
        if (!(error instanceof SurplusFetch)) this.#failed(error);
      },
    );
  }

  /** One failure is one request's; the fetches of the others are still under way. */
  #failed(error: unknown): void {
    if (this.#fetches.size >= this.#wanted) return; // nobody needed it
    const ahead = this.#waiters.filter((each) => each.ahead).at(-1);
    if (ahead) ahead.reject(error);
    else if (this.#fetches.size < this.#waiters.length) this.#waiters[0]?.reject(error);
    else {
      this.#expected = Math.max(0, this.#expected - 1);
      this.#actions.failedUnseen(error);
      this.#settle();
    }
  }

  #handOn(held: HeldBrowser, fits: (waiter: Waiter) => boolean, toBeReplaced = false): void {
    const spare = isFresh(held) && this.#unfilled === 0;
    const waiter = this.#inNeed.find(fits) ?? this.#waiters.find((each) => each.ahead && spare && fits(each));
    if (waiter) waiter.resolve(held);
    else this.#keep(held, toBeReplaced);
    this.#settle();
  }

  #keep(held: HeldBrowser, toBeReplaced: boolean): void {
    const idleMs = isFresh(held) && this.#unfilled > 0 ? AHEAD_IDLE_MS : toBeReplaced ? REPLACED_IDLE_MS : IDLE_MS;
    const ms = Math.max(idleMs, this.#idleMs);
    this.#idle.add(held);
    const timer = this.#clock.after(ms, () => {
      // The worker that it was for has not come.
      if (isFresh(held)) this.#expected = Math.max(0, this.#expected - 1);
      this.#discard(held, 'idle');
    });
    idle(held, timer);
  }

  /**
   * Fewer need a browser than before: what is idle and spare goes to requests ahead, and what nobody waits for any more
   * is given up, as far as it is not at the service already.
   */
  #settle(): void {
    for (const waiter of this.#waiters.filter(({ ahead }) => ahead)) {
      const best = this.#bestIdle(waiter);
      if (!best) break;
      this.#idle.delete(best);
      waiter.resolve(best);
    }
    let surplus = this.#fetches.size - this.#wanted;
    if (surplus <= 0) return;
    for (const fetch of [...this.#fetches].reverse()) {
      if (surplus <= 0) return;
      if (!fetch.parked) continue;
      this.#fetches.delete(fetch);
      fetch.giveUp();
      surplus -= 1;
    }
  }

  /** The same slot's before any other. Those that nobody could use any more are ended. */
  #bestIdle(asked: Asked): HeldBrowser | null {
    if (asked.ahead && this.#freshIdle <= this.#expected) return null;
    const now = this.#clock.now();
    let best: HeldBrowser | null = null;
    for (const held of this.#idle) {
      if (asked.ahead && !isFresh(held)) continue;
      if (suits(held, asked, now)) {
        if (held.slot.index === asked.slot.index && best?.slot.index !== asked.slot.index) best = held;
        best ??= held;
      } else if (!asked.ahead && !suits(held, { ...asked, takesUsed: true }, now)) this.#discard(held, 'expired');
    }
    return best;
  }

  #discard(held: HeldBrowser, reason: 'idle' | 'expired'): void {
    this.#idle.delete(held);
    this.#actions.end(held, reason);
  }
}

/** Whether a browser that has been here for a while will do. */
function suits(held: HeldBrowser, { needMs, takesUsed }: Asked, now: number): boolean {
  if (lasts(held, needMs, now)) return takesUsed || isFresh(held);
  // Where no browser lasts that long, a fresh one with most of its life before it is as good as the next.
  const lifetimeMs = held.browser.lifetimeSeconds * 1000;
  return isFresh(held) && lifetimeMs < needMs && lasts(held, lifetimeMs / 2, now);
}
