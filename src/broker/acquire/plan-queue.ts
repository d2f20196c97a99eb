import type { Clock } from '../../common/clock.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import { type HeldBrowser, leaseTo, type WorkerSlot } from '../browsers/held-browser.ts';
import type { RemainingParams } from '../rpc/messages/protocol.ts';
import { type IdleActions, IdleBrowsers } from './idle-browsers.ts';
import { type Order, PendingOrders, SurplusOrder } from './pending-orders.ts';
import { PRIORITY, type Priority } from './requests/request-scheduler.ts';
import { suits, type Waiter, Waiters, type WorkerRequest } from './waiters.ts';

/** Actions that a queue triggers outside itself. */
export interface QueueActions extends Pick<IdleActions, 'end' | 'othersStarve'> {
  /** Requests a browser from the service. @param needMs how long it is needed at least, in ms; 0: unknown */
  order(slot: WorkerSlot, priority: () => Priority, needMs: () => number): Order;
}

/** Options of a {@link PlanQueue}. */
export interface QueueOptions {
  reuse: LeasePlan['reuse'];
  clock: Clock;
  /** How long an idle browser is kept at most, in ms. Default and minimum: a worker's start. */
  idleMs?: number | undefined;
}

/** The remaining tests of one plan, as the runner reports them. */
export type Tests = Pick<RemainingParams['projects'][number], 'atOnce' | 'running' | 'followed'>;

/**
 * The queue for the browsers of one plan: waiting workers, pending orders and idle browsers.
 *
 * - Each waiting worker has an order. The one that waits longest gets the next browser, fresh or given back.
 * - Each worker that the runner has announced has an order, too, or a fresh idle browser.
 * - A prefetch has an order if another test follows in its worker. It gets only a fresh browser that is left over.
 * - A browser that no worker takes is idle until it is too old (see {@link IdleBrowsers}) or the remaining tests cannot
 *   use it.
 */
export class PlanQueue {
  readonly #waiters = new Waiters();
  readonly #pending = new PendingOrders();
  readonly #idle: IdleBrowsers;
  readonly #leased = new Set<HeldBrowser>();
  /** The remaining tests; null: unknown. */
  #tests: Tests | null = null;
  /** How many announced workers have not asked yet; below 0: more workers have asked than were announced. */
  #toCome = 0;
  readonly #actions: QueueActions;
  readonly #reuse: LeasePlan['reuse'];
  readonly #clock: Clock;

  constructor(actions: QueueActions, { reuse, clock, idleMs = 0 }: QueueOptions) {
    this.#actions = actions;
    this.#reuse = reuse;
    this.#clock = clock;
    const { end, othersStarve } = actions;
    const notTaken = () => {
      // An announced worker that has not come by then gets a browser when it asks.
      this.#expectAtMost(this.#idle.fresh);
      this.#settle();
    };
    this.#idle = new IdleBrowsers({ end, othersStarve, notTaken }, clock, idleMs);
  }

  get waiting(): number {
    return this.#waiters.inNeed.length;
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

  /** Orders a browser for a worker that will ask soon. */
  announce(slot: WorkerSlot): void {
    this.#toCome += 1;
    this.#orderMissing(slot);
  }

  /** Sets the remaining tests; null: unknown. Ends at once the idle browsers that they cannot use. */
  expectTests(tests: Tests | null): void {
    this.#tests = tests;
    this.#settle();
    const first = this.#waiters.inNeed[0] ?? this.#waiters.prefetches[0];
    if (first) this.#orderMissing(first.slot);
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
    return taken;
  }

  /** Takes a returned browser: leases it to the longest waiting worker that can use it, otherwise keeps it idle. */
  offer(held: HeldBrowser): void {
    this.#leased.delete(held);
    this.#handOn(held, (waiter) => suits(held, waiter, this.#clock.now()));
  }

  /** Rejects every waiting worker with this error and orders no more browsers for them. */
  refuseAll(error: unknown): void {
    this.#expectAtMost(0);
    this.#waiters.refuse(error);
    this.#settle();
  }

  /** Forgets a browser that is about to end. */
  forget(held: HeldBrowser): void {
    this.#idle.delete(held);
    this.#leased.delete(held);
  }

  #hasAsked({ prefetch }: WorkerRequest): void {
    if (!prefetch) this.#toCome -= 1;
  }

  #expectAtMost(workers: number): void {
    this.#toCome = Math.min(this.#toCome, workers);
  }

  #lease(held: HeldBrowser, { holder, slot, prefetch }: WorkerRequest, waitedMs: number): void {
    leaseTo(held, holder, slot, prefetch ? 0 : waitedMs, this.#clock.now());
    this.#leased.add(held);
    this.#trim();
  }

  /** Prefetches of workers that run another test after the current one. */
  get #prefetches(): readonly Waiter[] {
    return this.#waiters.prefetches.filter((each) => this.#isFollowed(each));
  }

  /** Whether a test follows in this worker. Without reports: yes, unless it may be one test too early. */
  #isFollowed({ during }: WorkerRequest): boolean {
    if (this.#tests) return during !== undefined && this.#tests.followed.includes(during);
    return this.#reuse !== 'test' || during === undefined;
  }

  /** How many orders should be pending. */
  get #wanted(): number {
    return this.waiting + Math.max(0, this.#toCome - this.#idle.fresh) + this.#prefetches.length;
  }

  #orderMissing(slot: WorkerSlot): void {
    while (this.#pending.size < this.#wanted) {
      // The oldest orders serve the waiting workers.
      const priority = () => (this.#pending.olderThan(order) < this.waiting ? PRIORITY.needed : PRIORITY.early);
      const order = this.#actions.order(slot, priority, () => this.#waiters.needMs);
      this.#pending.add(order);
      // By then, it is not pending any more. A new browser fits every request: none lasts longer.
      const came = (held: HeldBrowser) => this.#handOn(held, () => true);
      order.browser.then(came, (error: unknown) => this.#failed(error));
    }
  }

  /** One failed order fails one request; the orders of the others are still pending. */
  #failed(error: unknown): void {
    if (error instanceof SurplusOrder || this.#pending.size >= this.#wanted) return; // no request needs it
    const prefetch = this.#prefetches.at(-1);
    if (prefetch) prefetch.reject(error);
    else if (this.#pending.size < this.waiting) this.#waiters.inNeed[0]?.reject(error);
    // An announced worker learns of it when it asks.
    else this.#toCome -= 1;
  }

  #handOn(held: HeldBrowser, fits: (waiter: Waiter) => boolean): void {
    const waiter = this.#waiters.inNeed.find(fits);
    if (waiter) waiter.resolve(held);
    else this.#idle.keep(held);
    this.#settle();
    this.#trim();
  }

  /** How many of the remaining tests have a browser: they run in a worker that has one. */
  get #served(): number {
    const { running = [] } = this.#tests ?? {};
    // With `reuse: 'test'`, no test uses a leased browser again.
    if (this.#reuse === 'test') return 0;
    return [...this.#leased].filter(({ slot }) => running.includes(slot.index)).length;
  }

  /** Ends idle browsers that the remaining tests cannot use. */
  #trim(): void {
    if (!this.#tests) return;
    const usable = Math.max(0, this.#tests.atOnce - this.#served);
    this.#expectAtMost(usable);
    this.#idle.keepMost(usable);
  }

  /** Fewer workers need a browser: gives spare idle ones to prefetches, and cancels surplus orders that are parked. */
  #settle(): void {
    for (const waiter of this.#prefetches) {
      const best = this.#bestIdle(waiter);
      if (!best) continue;
      this.#idle.delete(best);
      waiter.resolve(best);
    }
    this.#pending.keepMost(this.#wanted);
  }

  #bestIdle(request: WorkerRequest): HeldBrowser | null {
    const isLeft = !request.prefetch || (this.#isFollowed(request) && this.#idle.fresh > this.#toCome);
    return isLeft ? this.#idle.best(request) : null;
  }
}
