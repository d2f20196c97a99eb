import type { Clock } from '../../../common/clock.ts';
import type { LeasePlan } from '../../../options/lease-plan.ts';
import type { Fetch } from '../../browsers/fetch.ts';
import { claim, type HeldBrowser, type Holder, isFresh, type WorkerSlot } from '../../browsers/held-browser.ts';
import { type Asked, suits } from './asked.ts';
import { Fetches } from './fetches.ts';
import { type IdleActions, IdleBrowsers } from './idle-browsers.ts';
import { Outlook, type ProjectOutlook } from './outlook.ts';
import { type Waiter, Waiters } from './waiters.ts';

/** What a supply has done for it. */
export interface SupplyActions extends Pick<IdleActions, 'end' | 'othersStarve'> {
  /** @param yields whether no worker waits for it now */
  fetch(slot: WorkerSlot, yields: () => boolean): Fetch;
  /** A fetch failed that was for a worker which has not asked yet. */
  failedUnseen(error: unknown): void;
}

/** How a supply is set up. */
export interface SupplyOptions {
  reuse: LeasePlan['reuse'];
  clock: Clock;
  /** Bound on an idle browser while it is not known which tests are to come, in ms. Default, and at least: a worker's start. */
  idleMs?: number | undefined;
}

/** How long a worker waits for a browser that a worker which ends has ahead, in ms: as long as that takes to end. */
const RETURN_MS = 5_000;

/**
 * The browsers of one plan: who waits for one, what is on its way, what is idle. As many are fetched as workers wait or
 * are expected; who waits longest gets the next one, whichever it is: a fresh one or one that another worker gave back.
 * Requests ahead get what is fresh and left over. An idle browser is kept while tests are to come that can use it.
 *
 * With `reuse: 'test'`, and a runner that says which tests are to come, no browser is fetched ahead that is not certain
 * to be asked for: whatever happens, there are as many as tries of tests that asked for one.
 */
export class Supply {
  readonly #waiters = new Waiters();
  readonly #fetches = new Fetches();
  readonly #idle: IdleBrowsers;
  readonly #lent = new Set<HeldBrowser>();
  /** Of those, the ones that their workers have ahead. */
  readonly #lentAhead = new Set<HeldBrowser>();
  readonly #outlook: Outlook;
  /** How often a browser was lent so far, without those that came back unused. */
  #lendings = 0;
  /** Workers that Playwright will start and that have not asked yet. */
  #expected = 0;
  /** Workers that asked before it was told that they were expected. */
  #early = 0;

  readonly #actions: SupplyActions;
  readonly #clock: Clock;

  constructor(actions: SupplyActions, { reuse, clock, idleMs = 0 }: SupplyOptions) {
    this.#actions = actions;
    this.#clock = clock;
    this.#outlook = new Outlook(reuse);
    const idle = {
      end: actions.end,
      othersStarve: actions.othersStarve,
      // One that no worker has used may be for tests that need none.
      hasTests: (held: HeldBrowser) =>
        isFresh(held) ? this.#outlook.needsFresh(this.#lendings) : this.#outlook.isKnown,
      unclaimed: () => {
        this.#expected = Math.max(0, this.#expected - 1);
      },
    };
    this.#idle = new IdleBrowsers(idle, clock, idleMs);
  }

  /** Workers that wait. */
  get waiting(): number {
    return this.#waiters.inNeed.length;
  }

  /** Who waits longest: for how long, in ms, and what for; null: nobody waits. */
  get longest(): { waitedMs: number; waitsFor: string } | null {
    const [first] = this.#waiters.inNeed;
    return first ? { waitedMs: this.#clock.now() - first.since, waitsFor: this.waitsFor } : null;
  }

  /** Whether workers wait, and the service has nothing for them at the moment. */
  get starves(): boolean {
    return this.waiting > 0 && this.#fetches.starve;
  }

  /** What is being waited for, in a few words. */
  get waitsFor(): string {
    return this.#fetches.oldest?.waitsFor ?? 'waiting for a browser';
  }

  /** The same with everything that helps, found out now. */
  async explain(signal: AbortSignal): Promise<string> {
    return (await this.#fetches.oldest?.explain(signal)) ?? this.waitsFor;
  }

  /** Fetches a browser for a worker that will ask soon. */
  prefetch(slot: WorkerSlot): void {
    if (this.#early > 0) this.#early -= 1;
    else this.#expected += 1;
    this.#fetchMissing(slot);
  }

  /** Which tests are still to come; null: it is not known. What is of no use to them is ended at once. */
  expectTests(projects: readonly ProjectOutlook[] | null): void {
    this.#outlook.tell(projects);
    this.#settle();
    this.#fetchForWaiters();
    this.#trim();
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
    const since = this.#clock.now();
    const taken = this.#waiters.add(asked, since, signal, {
      lent: (held) => this.#lend(held, asked, this.#clock.now() - since),
      gone: () => this.#settle(),
    });
    this.#fetchMissing(asked.slot);
    if (this.#returning > 0) this.#clock.after(RETURN_MS, () => this.#fetchForWaiters()).unref();
    return taken;
  }

  /** A browser has come back: for who waits longest and can use it, else idle for a while. */
  offer(held: HeldBrowser): void {
    this.#isBack(held);
    if (isFresh(held)) this.#lendings -= 1;
    this.#handOn(held, (waiter) => suits(held, waiter, this.#clock.now()));
    this.#fetchForWaiters();
  }

  /** A worker has given its browser back and goes on: what it has ahead is what it uses now. */
  goesOn(holder: Holder): void {
    for (const held of this.#lentAhead) if (held.holder === holder) this.#lentAhead.delete(held);
    this.#fetchForWaiters();
  }

  /** Every worker that waits gets this error, and nothing more is fetched for them. */
  refuseAll(error: unknown): void {
    this.#expected = 0;
    this.#waiters.refuse(error);
    this.#settle();
  }

  /** Forgets a browser that is being ended. */
  forget(held: HeldBrowser): void {
    this.#idle.delete(held);
    this.#isBack(held);
    this.#fetchForWaiters();
  }

  #isBack(held: HeldBrowser): void {
    this.#lent.delete(held);
    this.#lentAhead.delete(held);
  }

  /** One worker fewer is to come. */
  #hasAsked({ ahead }: Asked): void {
    if (ahead) return;
    if (this.#expected > 0) this.#expected -= 1;
    else this.#early += 1;
  }

  #lend(held: HeldBrowser, { holder, slot, ahead }: Asked, waitedMs: number): void {
    claim(held, holder, slot, ahead ? 0 : waitedMs, this.#clock.now());
    this.#lent.add(held);
    if (ahead) this.#lentAhead.add(held);
    this.#lendings += 1;
    this.#trim();
  }

  /** How many more browsers are certain to be asked for by tests whose workers do not wait yet. */
  get #asksToCome(): number {
    return Math.max(0, this.#outlook.asksLeft(this.#lendings) - this.waiting);
  }

  /** Expected workers for whom no browser is here yet. */
  get #unfilled(): number {
    return Math.max(0, Math.min(this.#expected, this.#asksToCome) - this.#idle.fresh.length);
  }

  /** How many browsers shall be on their way. */
  get #wanted(): number {
    return this.#now + this.#wantedAhead;
  }

  /** Workers that wait, or are expected, and have none here. */
  get #now(): number {
    return this.waiting - this.#returning + this.#unfilled;
  }

  /**
   * Waiting workers that get what another one has ahead and will not use: one that ends after a failed test, or that has
   * asked anew before it came. Of that it is known where more ask than was certain.
   */
  get #returning(): number {
    const waiters = this.#waiters.inNeed;
    const surplus = waiters.length - Math.max(0, this.#outlook.asksLeft(this.#lendings));
    const young = waiters.filter(({ since }) => this.#clock.now() - since < RETURN_MS);
    return Math.max(0, Math.min(surplus, this.#lentAhead.size, young.length));
  }

  /** For how many requests ahead a browser may be fetched. */
  get #wantedAhead(): number {
    const asked = this.#waiters.ahead;
    const toCome = this.#asksToCome;
    if (toCome === Number.POSITIVE_INFINITY) return asked.filter((each) => this.#outlook.goesOn(each)).length;
    return Math.max(0, Math.min(asked.length, toCome - this.#idle.fresh.length - this.#unfilled));
  }

  #fetchForWaiters(): void {
    const [first] = [...this.#waiters.inNeed, ...this.#waiters.ahead];
    if (first) this.#fetchMissing(first.slot);
  }

  #fetchMissing(slot: WorkerSlot): void {
    while (this.#fetches.size < this.#wanted) {
      this.#fetches.add(
        // The oldest ones are for those who wait now.
        (place) => this.#actions.fetch(slot, () => place() >= this.waiting),
        // One that just came is as long-lived as they get.
        (held) => this.#handOn(held, () => true),
        (error) => this.#failed(error),
      );
    }
  }

  /** One failure is one request's; the fetches of the others are still under way. */
  #failed(error: unknown): void {
    if (this.#fetches.size >= this.#wanted) return; // nobody needed it
    const last = this.#waiters.ahead.at(-1);
    if (last && this.#wantedAhead > 0) {
      last.reject(error);
      this.#fetchMissing(last.slot); // for one that had no room yet
    } else if (this.#fetches.size < this.waiting) this.#waiters.inNeed[0]?.reject(error);
    else {
      this.#expected = Math.max(0, this.#expected - 1);
      this.#actions.failedUnseen(error);
      this.#settle();
    }
  }

  #handOn(held: HeldBrowser, fits: (waiter: Waiter) => boolean): void {
    const spare = isFresh(held) && this.#unfilled === 0;
    const takesAhead = (each: Waiter) => spare && this.#outlook.goesOn(each) && fits(each);
    const waiter = this.#waiters.inNeed.find(fits) ?? this.#waiters.ahead.find(takesAhead);
    if (waiter) waiter.resolve(held);
    else {
      this.#idle.keep(held);
      this.#trim();
    }
    this.#settle();
  }

  /** Ends what is idle and of no use to the tests that are to come. */
  #trim(): void {
    if (!this.#outlook.isKnown) return;
    const { used, fresh } = this.#outlook.idleNeeds(new Set([...this.#lent].map(({ slot }) => slot.index)));
    this.#expected = Math.min(this.#expected, fresh);
    this.#idle.keepMost({ used, fresh: Math.max(0, fresh - Math.min(used, this.#idle.used.length)) });
  }

  /**
   * Fewer need a browser than before: what is idle and spare goes to requests ahead, and what nobody waits for any more
   * is given up, as far as it is not at the service already.
   */
  #settle(): void {
    for (const waiter of this.#waiters.ahead) {
      const best = this.#bestIdle(waiter);
      if (!best) continue;
      this.#idle.delete(best);
      waiter.resolve(best);
    }
    this.#fetches.keepMost(this.#wanted);
  }

  #bestIdle(asked: Asked): HeldBrowser | null {
    if (asked.ahead && (this.#idle.fresh.length <= this.#expected || !this.#outlook.goesOn(asked))) return null;
    return this.#idle.best(asked);
  }
}
