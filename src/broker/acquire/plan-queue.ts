import type { Clock } from '../../common/clock.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import { type HeldBrowser, type Holder, isFresh, leaseTo, type WorkerSlot } from '../browsers/held-browser.ts';
import { BrowserDemand, type ProjectDemand } from './browser-demand.ts';
import { type IdleActions, IdleBrowsers } from './idle-browsers.ts';
import { type Order, PendingOrders } from './pending-orders.ts';
import { PRIORITY, type Priority } from './requests/request-scheduler.ts';
import { type Waiter, Waiters } from './waiters.ts';
import { suits, type WorkerRequest } from './worker-request.ts';

/** Actions that a queue triggers outside itself. */
export interface QueueActions extends Pick<IdleActions, 'end' | 'othersStarve'> {
  /** Requests a browser from the service. @param needMs how long it is needed at least, in ms; 0: unknown */
  order(slot: WorkerSlot, priority: () => Priority, needMs: () => number): Order;
  /** A request failed whose worker has not asked yet. */
  failedUnseen(error: unknown): void;
}

/** Options of a {@link PlanQueue}. */
export interface QueueOptions {
  reuse: LeasePlan['reuse'];
  clock: Clock;
  /** Limit of an idle browser while the remaining tests are unknown, in ms. Default and minimum: a worker's start. */
  idleMs?: number | undefined;
}

/**
 * How long a worker waits for another worker's browser, in ms: a worker that ends or is idle returns it within this
 * time.
 */
export const RETURN_MS = 5_000;

/**
 * The queue for the browsers of one plan: waiting workers, pending orders and idle browsers. It orders as many browsers
 * as workers wait or are expected. The worker that waits longest gets the next browser, whether it is fresh or given
 * back by another worker. Prefetches get fresh browsers that are left over. An idle browser is kept while remaining
 * tests can use it.
 *
 * With `reuse: 'test'` and a runner that reports the remaining tests, the queue prefetches only browsers that tests
 * will certainly request. The run therefore starts at most one browser per test attempt that requests one.
 */
export class PlanQueue {
  readonly #waiters = new Waiters();
  readonly #pending = new PendingOrders();
  readonly #idle: IdleBrowsers;
  readonly #leased = new Set<HeldBrowser>();
  /** Leased browsers that their workers have prefetched. */
  readonly #prefetched = new Set<HeldBrowser>();
  readonly #demand: BrowserDemand;
  /** Number of leases so far, without the browsers that came back unused. */
  #leases = 0;
  /** Workers that Playwright will start and that have not asked yet. */
  #expected = 0;
  /** Workers that asked before Playwright announced them. */
  #early = 0;

  readonly #actions: QueueActions;
  readonly #clock: Clock;

  constructor(actions: QueueActions, { reuse, clock, idleMs = 0 }: QueueOptions) {
    this.#actions = actions;
    this.#clock = clock;
    this.#demand = new BrowserDemand(reuse);
    const idle = {
      end: actions.end,
      othersStarve: actions.othersStarve,
      // A fresh browser may be meant for tests that do not need one.
      hasTests: (held: HeldBrowser) => (isFresh(held) ? this.#demand.needsFresh(this.#leases) : this.#demand.isKnown),
      unusedPrefetch: () => {
        this.#expected = Math.max(0, this.#expected - 1);
      },
    };
    this.#idle = new IdleBrowsers(idle, clock, idleMs);
  }

  /** Number of waiting workers. */
  get waiting(): number {
    return this.#waiters.inNeed.length;
  }

  /** See {@link BrowserDemand.runsNoGroup}. */
  runsNoGroup(slot: number): boolean {
    return this.#demand.runsNoGroup(slot);
  }

  /** The longest waiting worker: how long it waits, in ms, and for what; null if no worker waits. */
  get longest(): { waitedMs: number; waitsFor: string } | null {
    const [first] = this.#waiters.inNeed;
    return first ? { waitedMs: this.#clock.now() - first.since, waitsFor: this.waitsFor } : null;
  }

  /** Whether a worker has a browser. */
  get isLeasing(): boolean {
    return this.#leased.size > 0;
  }

  /** Whether workers wait and the service currently has no browser for them. */
  get starves(): boolean {
    return this.waiting > 0 && this.#pending.starve;
  }

  /** What the workers wait for, in a few words. */
  get waitsFor(): string {
    return this.#pending.oldest?.waitsFor ?? 'waiting for a browser';
  }

  /** The same in detail, from a fresh request to the service. */
  async explain(signal: AbortSignal): Promise<string> {
    return (await this.#pending.oldest?.explain(signal)) ?? this.waitsFor;
  }

  /** Prefetches a browser for a worker that will ask soon. */
  prefetch(slot: WorkerSlot): void {
    if (this.#early > 0) this.#early -= 1;
    else this.#expected += 1;
    this.#orderMissing(slot);
  }

  /** Sets the remaining tests; null: unknown. Ends at once the idle browsers that they cannot use. */
  expectTests(projects: readonly ProjectDemand[] | null): void {
    this.#demand.update(projects);
    this.#settle();
    this.#orderForWaiters();
    this.#trim();
  }

  /** Returns an idle browser for a worker; null if it has to wait for the next one. */
  takeIdle(request: WorkerRequest): HeldBrowser | null {
    const best = this.#bestIdle(request);
    if (!best) return null;
    this.#hasAsked(request);
    this.#idle.delete(best);
    this.#lease(best, request, 0);
    this.#settle();
    this.#orderMissing(request.slot); // to replace browsers that were too old and have ended
    return best;
  }

  /** Returns a browser for a worker: an idle one at once, otherwise the next one. Rejects when `signal` fires. */
  take(request: WorkerRequest, signal: AbortSignal): Promise<HeldBrowser> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const best = this.takeIdle(request);
    if (best) return Promise.resolve(best);
    this.#hasAsked(request);
    const since = this.#clock.now();
    const taken = this.#waiters.add(request, since, signal, {
      onLease: (held) => this.#lease(held, request, this.#clock.now() - since),
      onGone: () => this.#settle(),
    });
    this.#orderMissing(request.slot);
    if (this.#returning > 0) this.#clock.after(RETURN_MS, () => this.#orderForWaiters()).unref();
    return taken;
  }

  /** Takes a returned browser: leases it to the longest waiting worker that can use it, otherwise keeps it idle. */
  offer(held: HeldBrowser): void {
    for (const leased of [this.#leased, this.#prefetched]) leased.delete(held);
    if (isFresh(held)) this.#leases -= 1;
    this.#handOn(held, (waiter) => suits(held, waiter, this.#clock.now()));
    this.#orderForWaiters();
  }

  /** A worker gave its browser back and continues with the browser that it prefetched. */
  goesOn(holder: Holder): void {
    for (const held of this.#prefetched) if (held.holder === holder) this.#prefetched.delete(held);
    this.#orderForWaiters();
  }

  /** Rejects every waiting worker with this error and orders no more browsers for them. */
  refuseAll(error: unknown): void {
    this.#expected = 0;
    this.#waiters.refuse(error);
    this.#settle();
  }

  /** Forgets a browser that is about to end. */
  forget(held: HeldBrowser): void {
    this.#idle.delete(held);
    for (const leased of [this.#leased, this.#prefetched]) leased.delete(held);
    this.#orderForWaiters();
  }

  /** Counts an expected worker that has asked now. */
  #hasAsked({ prefetch }: WorkerRequest): void {
    if (prefetch) return;
    if (this.#expected > 0) this.#expected -= 1;
    else this.#early += 1;
  }

  #lease(held: HeldBrowser, { holder, slot, prefetch }: WorkerRequest, waitedMs: number): void {
    leaseTo(held, holder, slot, prefetch ? 0 : waitedMs, this.#clock.now());
    this.#leased.add(held);
    if (prefetch) this.#prefetched.add(held);
    this.#leases += 1;
    this.#trim();
  }

  /** How many more browsers will certainly be requested by tests whose workers do not wait yet. */
  get #requestsToCome(): number {
    return Math.max(0, this.#demand.requestsLeft(this.#leases) - this.waiting);
  }

  /** Expected workers without a browser yet. */
  get #unfilled(): number {
    return Math.max(0, Math.min(this.#expected, this.#requestsToCome) - this.#idle.fresh);
  }

  /** How many orders should be pending. */
  get #wanted(): number {
    return this.#now + this.#wantedPrefetches;
  }

  /** Orders needed for workers without a browser. */
  get #now(): number {
    return this.waiting - this.#returning + this.#unfilled;
  }

  /**
   * Waiting workers that will get a browser which another worker has prefetched but will not use: that worker ends
   * after a failed test, or has asked again before the prefetched browser arrived. The sign of this is that more
   * workers ask than was certain.
   */
  get #returning(): number {
    if (this.#prefetched.size === 0) return 0;
    const waiters = this.#waiters.inNeed;
    const surplus = waiters.length - Math.max(0, this.#demand.requestsLeft(this.#leases));
    const young = waiters.filter(({ since }) => this.#clock.now() - since < RETURN_MS);
    return Math.max(0, Math.min(surplus, this.#prefetched.size, young.length));
  }

  /** For how many prefetches a browser may be ordered. */
  get #wantedPrefetches(): number {
    const prefetches = this.#waiters.prefetches;
    const toCome = this.#requestsToCome;
    if (toCome === Number.POSITIVE_INFINITY) return prefetches.filter((each) => this.#demand.continues(each)).length;
    return Math.max(0, Math.min(prefetches.length, toCome - this.#idle.fresh - this.#unfilled));
  }

  #orderForWaiters(): void {
    const first = this.#waiters.inNeed[0] ?? this.#waiters.prefetches[0];
    if (first) this.#orderMissing(first.slot);
  }

  #orderMissing(slot: WorkerSlot): void {
    while (this.#pending.size < this.#wanted) {
      this.#pending.add(
        (place) => {
          const priority = () => this.#priorityAt(place());
          return this.#actions.order(slot, priority, () => this.#waiters.needMs);
        },
        // A new browser fits every request: none lasts longer.
        (held) => this.#handOn(held, () => true),
        (error) => this.#failed(error),
      );
    }
  }

  /** The oldest orders serve the waiting workers, the next ones the expected workers. */
  #priorityAt(place: number): Priority {
    if (place < this.waiting) return PRIORITY.needed;
    return place < this.#now ? PRIORITY.expected : PRIORITY.prefetch;
  }

  /** One failed order fails one request; the orders of the others are still pending. */
  #failed(error: unknown): void {
    if (this.#pending.size >= this.#wanted) return; // no request needs it
    const last = this.#waiters.prefetches.at(-1);
    if (last && this.#wantedPrefetches > 0) {
      last.reject(error);
      this.#orderMissing(last.slot); // for a prefetch that had to wait for a place
    } else if (this.#pending.size < this.waiting) this.#waiters.inNeed[0]?.reject(error);
    else {
      this.#expected = Math.max(0, this.#expected - 1);
      this.#actions.failedUnseen(error);
      this.#settle();
    }
  }

  #handOn(held: HeldBrowser, fits: (waiter: Waiter) => boolean): void {
    const spare = isFresh(held) && this.#unfilled === 0;
    const takesPrefetch = (each: Waiter) => spare && this.#demand.continues(each) && fits(each);
    const waiter = this.#waiters.inNeed.find(fits) ?? this.#waiters.prefetches.find(takesPrefetch);
    if (waiter) waiter.resolve(held);
    else {
      this.#idle.keep(held);
      this.#trim();
    }
    this.#settle();
  }

  /** Ends idle browsers that the remaining tests cannot use. */
  #trim(): void {
    if (!this.#demand.isKnown) return;
    const { used, fresh } = this.#demand.idleNeeds(new Set([...this.#leased].map(({ slot }) => slot.index)));
    this.#expected = Math.min(this.#expected, fresh);
    this.#idle.keepMost({ used, fresh: Math.max(0, fresh - Math.min(used, this.#idle.used)) });
  }

  /** Fewer workers need a browser: gives spare idle ones to prefetches, and cancels surplus orders that are parked. */
  #settle(): void {
    for (const waiter of [...this.#waiters.prefetches]) {
      const best = this.#bestIdle(waiter);
      if (!best) continue;
      this.#idle.delete(best);
      waiter.resolve(best);
    }
    this.#pending.keepMost(this.#wanted);
  }

  #bestIdle(request: WorkerRequest): HeldBrowser | null {
    if (request.prefetch && (this.#idle.fresh <= this.#expected || !this.#demand.continues(request))) return null;
    return this.#idle.best(request);
  }
}
