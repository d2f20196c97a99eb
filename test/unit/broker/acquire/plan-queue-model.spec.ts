import { deepEqual } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { type Order, SurplusOrder } from '../../../../src/broker/acquire/pending-orders.ts';
import { PlanQueue, type Tests } from '../../../../src/broker/acquire/plan-queue.ts';
import { type HeldBrowser, heldBrowser, isFresh, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';

/**
 * The browsers of one plan, with orders that are filled, fail and park as the history decides. No worker waits while a
 * suitable browser is idle, prefetches come last, every waiting worker has an order, and there is no surplus parked
 * order. No more browsers are idle than the remaining tests can use, and none for long.
 */

type Step =
  | { do: 'expect' }
  | { do: 'take'; slot: number; prefetch: boolean; during: string | undefined; needMs: number }
  | { do: 'comes' | 'fails' | 'parks' | 'givesUp'; which: number }
  | { do: 'back'; which: number }
  | { do: 'tell'; tests: Tests | null }
  | { do: 'starve'; others: boolean }
  | { do: 'advance'; ms: number };

const LIFETIME_S = 100;
/** How long a browser may be idle, in ms, and how late that may be noticed. */
const IDLE_MS = 30_000;
const LOOK_MS = 6_000;
const which = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ do: 'expect' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      slot: fc.nat(3),
      prefetch: fc.boolean(),
      during: fc.constantFrom('a', 'b', undefined),
      needMs: fc.constantFrom(10_000, 90_000, 200_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('comes', 'comes', 'fails', 'parks', 'givesUp'), which }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('tell' as const),
      tests: fc.option(
        fc.record({
          atOnce: fc.nat(8),
          running: fc.array(fc.nat(3), { maxLength: 4 }),
          followed: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
        }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('starve' as const), others: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 5_001, 16_000, 36_000) }),
  },
);

interface PendingOrder {
  fetch: Order & { parked: boolean };
  comes(held: HeldBrowser): void;
  fails(error: unknown): void;
}

interface Waiting {
  since: number;
  prefetch: boolean;
  during: string | undefined;
  needMs: number;
  gone: AbortController;
}

class History {
  readonly clock = new FakeClock();
  readonly problems: string[] = [];
  private readonly browsers: HeldBrowser[] = [];
  private readonly underway = new Set<PendingOrder>();
  private readonly waiting = new Set<Waiting>();
  private readonly leased = new Set<HeldBrowser>();
  private readonly idleSince = new Map<HeldBrowser, number>();
  private readonly supply: PlanQueue;
  private numbers = 0;
  /** The last report about the remaining tests. */
  private told: Tests | null = null;
  private othersStarve = false;

  constructor(private readonly reuse: 'run' | 'test') {
    this.supply = new PlanQueue(
      {
        order: () => this.fetch(),
        end: (held, reason) => {
          if (held.state !== 'idle') this.problems.push(`${held.browser.sessionId} was ended while ${held.state}`);
          if (reason === 'idle' && this.isNeeded(held)) {
            this.problems.push(`${held.browser.sessionId} was ended while tests are to come for it`);
          }
          markEnding(held, reason, this.clock.now());
        },
        othersStarve: () => this.othersStarve,
      },
      { reuse: this.reuse, clock: this.clock },
    );
  }

  async play(step: Step): Promise<void> {
    if (step.do === 'expect') this.expect();
    else if (step.do === 'take') this.take(step);
    else if (step.do === 'back') this.back(step);
    else if (step.do === 'tell') {
      this.told = step.tests;
      this.supply.expectTests(step.tests);
    } else if (step.do === 'starve') this.othersStarve = step.others;
    else if (step.do === 'advance') await this.clock.advance(step.ms);
    else if (step.do === 'givesUp') nth(this.waiting, step.which)?.gone.abort(new Error('gives up'));
    else this.fetchGoes(step.do, step.which);
    await settled();
    this.check();
  }

  /** Nothing fails any more and time passes: every worker gets a browser. */
  async end(): Promise<void> {
    // A prefetch may be held back: the remaining tests are unknown from now on.
    this.told = null;
    this.supply.expectTests(null);
    for (const each of [...this.waiting]) if (this.mayBeHeldBack(each)) each.gone.abort(new Error('over'));
    for (let round = 0; round < 50 && this.waiting.size > 0; round += 1) {
      for (const each of [...this.underway]) this.comes(each);
      await this.clock.advance(1);
      this.check();
    }
    if (this.waiting.size > 0) this.problems.push(`${this.waiting.size} never got a browser`);
    this.supply.refuseAll(new Error('over'));
    await this.clock.advance(60_000);
    for (const each of this.underway) if (each.fetch.parked) this.problems.push('a parked fetch was never given up');
    const left = this.browsers.filter((held) => held.state === 'idle');
    if (left.length > 0) this.problems.push(`${left.length} browsers stay idle for ever`);
  }

  private expect(): void {
    this.supply.announce({ project: '', index: 0 });
  }

  private fetch(): Order {
    let comes: PendingOrder['comes'] = () => undefined;
    let fails: PendingOrder['fails'] = () => undefined;
    const browser = new Promise<HeldBrowser>((resolve, reject) => {
      comes = resolve;
      fails = reject;
    });
    const giveUp = () => {
      if (!fetch.parked) this.problems.push('a fetch was given up that is at the service');
      this.underway.delete(underway);
      fails(new SurplusOrder());
    };
    const fetch = { browser, parked: false, waitsFor: '', explain: async () => '', giveUp };
    const underway: PendingOrder = { fetch, comes: (held) => comes(held), fails: (error) => fails(error) };
    this.underway.add(underway);
    return fetch;
  }

  private fetchGoes(how: 'comes' | 'fails' | 'parks', n: number): void {
    const underway = nth(this.underway, n);
    if (!underway) return;
    if (how === 'comes') this.comes(underway);
    else if (how === 'parks') underway.fetch.parked = !underway.fetch.parked;
    else {
      this.underway.delete(underway);
      underway.fails(new Error('refused'));
    }
  }

  private comes(underway: PendingOrder): void {
    this.underway.delete(underway);
    const sessionId = `s-${++this.numbers}`;
    const now = new Date(this.clock.now());
    const browser = {
      source: 'session',
      sessionId,
      leaseId: null,
      poolId: null,
      servedBy: null,
      type: 'hosted',
      hasOwnState: false,
      cdpUrl: 'wss://x',
      startedAt: now,
      lifetimeSeconds: LIFETIME_S,
      expiresAt: new Date(now.getTime() + LIFETIME_S * 1000),
    } as const;
    const slot = { project: '', index: 0 };
    const asked = { request: sessionId, entry: sessionId, plan: planOf(), slot, askedAt: now, shard: null };
    const held = heldBrowser({ browser, ...asked });
    this.browsers.push(held);
    underway.comes(held);
  }

  private take({ slot, prefetch, during, needMs }: Extract<Step, { do: 'take' }>): void {
    const waiting = { since: this.clock.now(), prefetch, during, needMs, gone: new AbortController() };
    this.waiting.add(waiting);
    const takesUsed = this.reuse === 'run';
    const asked = { holder: waiting, slot: { project: '', index: slot }, needMs, takesUsed, prefetch, during };
    this.supply.take(asked, waiting.gone.signal).then(
      (held) => {
        this.waiting.delete(waiting);
        if (this.leased.has(held)) this.problems.push(`${held.browser.sessionId} was leased twice`);
        if (held.state !== 'leased' || held.holder !== waiting)
          this.problems.push(`${held.browser.sessionId} has no holder`);
        if (prefetch && this.supply.waiting > 0) this.problems.push('a prefetch was served while a worker waits');
        this.leased.add(held);
      },
      () => this.waiting.delete(waiting),
    );
  }

  private back({ which: n }: Extract<Step, { do: 'back' }>): void {
    const held = nth(this.leased, n);
    if (!held) return;
    this.leased.delete(held);
    this.supply.offer(held);
  }

  /** How many idle browsers the remaining tests can use. */
  private get usable(): number {
    if (this.told === null) return Number.POSITIVE_INFINITY;
    const { atOnce, running } = this.told;
    const served = this.browsers.filter(({ state, slot }) => state === 'leased' && running.includes(slot.index)).length;
    return Math.max(0, atOnce - (this.reuse === 'test' ? 0 : served));
  }

  /** A browser must not end while remaining tests can use it, unless it is old, or others need its place. */
  private isNeeded(held: HeldBrowser): boolean {
    if (this.othersStarve || this.clock.now() - (this.idleSince.get(held) ?? 0) >= IDLE_MS - 1) return false;
    const others = this.browsers.filter((each) => each !== held && each.state === 'idle');
    return others.length < this.usable;
  }

  /** Only a worker that certainly runs another test gets a prefetch. */
  private mayBeHeldBack({ prefetch, during }: Waiting): boolean {
    if (!prefetch) return false;
    return this.told ? !this.told.followed.includes(during ?? '') : this.reuse === 'test' && during !== undefined;
  }

  private check(): void {
    const now = this.clock.now();
    const idle = this.browsers.filter((held) => held.state === 'idle');
    for (const { prefetch, needMs } of this.waiting) {
      const long = idle.filter(({ browser }) => browser.expiresAt.getTime() - now >= needMs);
      const fits = long.filter((held) => isFresh(held) || this.reuse === 'run');
      if (!prefetch && fits.length > 0) this.problems.push(`somebody waits, and ${fits[0]?.browser.sessionId} is idle`);
    }
    if (idle.length > this.usable) this.problems.push(`${idle.length} are idle, for ${this.usable} tests`);
    for (const held of this.browsers) {
      if (held.state !== 'idle') this.idleSince.delete(held);
      else if (!this.idleSince.has(held)) this.idleSince.set(held, now);
      const idleMs = now - (this.idleSince.get(held) ?? now);
      if (idleMs > IDLE_MS + LOOK_MS) this.problems.push(`${held.browser.sessionId} is idle for ${idleMs} ms`);
    }
    const inNeed = [...this.waiting].filter((each) => !this.mayBeHeldBack(each)).length;
    if (this.underway.size < inNeed) this.problems.push(`${inNeed} wait for ${this.underway.size} fetches`);
    const real = [...this.waiting].filter(({ prefetch }) => !prefetch).length;
    if (this.supply.waiting !== real) this.problems.push(`says that ${this.supply.waiting} wait, of ${real}`);
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'));
  }
}

function nth<T>(from: Iterable<T>, n: number): T | undefined {
  const all = [...from];
  return all[n % Math.max(1, all.length)];
}

for (const { part, runs } of propertyParts(4, 4_000)) {
  test(`every waiting worker gets a browser, before any prefetch (${part})`, async () => {
    const steps = fc.array(step, { maxLength: 30, size: 'max' });
    const property = fc.asyncProperty(fc.constantFrom('run', 'test'), steps, async (reuse, steps) => {
      const history = new History(reuse);
      for (const each of steps) await history.play(each);
      await history.end();
      deepEqual(history.problems, []);
    });
    await fc.assert(property, runs);
  });
}
