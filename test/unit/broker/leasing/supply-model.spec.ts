import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { type Fetch, SurplusFetch } from '../../../../src/broker/browsers/fetch.ts';
import { type HeldBrowser, heldBrowser, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { Supply } from '../../../../src/broker/leasing/supply.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';

/**
 * The browsers of one plan, with fetches that come, fail and park as the history wants. Nobody waits beside an idle
 * browser that would do, requests ahead come last, there is a fetch for everybody who waits and no parked one too many.
 */

type Step =
  | { do: 'expect' }
  | { do: 'take'; slot: number; ahead: boolean; takesUsed: boolean; needMs: number }
  | { do: 'comes' | 'fails' | 'parks' | 'givesUp'; which: number }
  | { do: 'back'; which: number; replaced: boolean }
  | { do: 'advance'; ms: number };

const LIFETIME_S = 100;
const which = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ do: 'expect' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      slot: fc.nat(3),
      ahead: fc.boolean(),
      takesUsed: fc.boolean(),
      needMs: fc.constantFrom(10_000, 90_000, 200_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('comes', 'comes', 'fails', 'parks', 'givesUp'), which }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), which, replaced: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 5_001, 16_000, 31_000) }),
  },
);

interface Underway {
  fetch: Fetch & { parked: boolean };
  comes(held: HeldBrowser): void;
  fails(error: unknown): void;
}

interface Waiting {
  ahead: boolean;
  takesUsed: boolean;
  needMs: number;
  gone: AbortController;
}

class History {
  readonly clock = new FakeClock();
  readonly problems: string[] = [];
  private readonly browsers: HeldBrowser[] = [];
  private readonly underway = new Set<Underway>();
  private readonly waiting = new Set<Waiting>();
  private readonly lent = new Set<HeldBrowser>();
  private readonly supply = new Supply(
    {
      fetch: () => this.fetch(),
      end: (held, reason) => {
        if (held.state !== 'idle') this.problems.push(`${held.browser.sessionId} was ended while ${held.state}`);
        markEnding(held, reason, this.clock.now());
      },
      failedUnseen: () => {
        this.expected -= 1;
        if (this.expected < 0) this.problems.push('a failure counts that nobody needed the browser of');
      },
    },
    this.clock,
  );
  private numbers = 0;
  /** Workers that were expected and whose fetch did not fail unseen. */
  private expected = 0;

  async play(step: Step): Promise<void> {
    if (step.do === 'expect') this.expect();
    else if (step.do === 'take') this.take(step);
    else if (step.do === 'back') this.back(step);
    else if (step.do === 'advance') await this.clock.advance(step.ms);
    else if (step.do === 'givesUp') nth(this.waiting, step.which)?.gone.abort(new Error('gives up'));
    else this.fetchGoes(step.do, step.which);
    await settled();
    this.check();
  }

  /** Nothing fails any more, and time goes on: everybody gets a browser. */
  async end(): Promise<void> {
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
    this.expected += 1;
    this.supply.prefetch({ project: '', index: 0 });
  }

  private fetch(): Fetch {
    let comes: Underway['comes'] = () => undefined;
    let fails: Underway['fails'] = () => undefined;
    const browser = new Promise<HeldBrowser>((resolve, reject) => {
      comes = resolve;
      fails = reject;
    });
    const giveUp = () => {
      if (!fetch.parked) this.problems.push('a fetch was given up that is at the service');
      this.underway.delete(underway);
      fails(new SurplusFetch());
    };
    const fetch = { browser, parked: false, waitsFor: '', explain: async () => '', giveUp };
    const underway: Underway = { fetch, comes: (held) => comes(held), fails: (error) => fails(error) };
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

  private comes(underway: Underway): void {
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
    const asked = { request: sessionId, plan: planOf(), slot: { project: '', index: 0 }, askedAt: now, shard: null };
    const held = heldBrowser({ browser, ...asked });
    this.browsers.push(held);
    underway.comes(held);
  }

  private take({ slot, ahead, takesUsed, needMs }: Extract<Step, { do: 'take' }>): void {
    const waiting = { ahead, takesUsed, needMs, gone: new AbortController() };
    this.waiting.add(waiting);
    const asked = { holder: waiting, slot: { project: '', index: slot }, needMs, takesUsed, ahead };
    this.supply.take(asked, waiting.gone.signal).then(
      (held) => {
        this.waiting.delete(waiting);
        if (this.lent.has(held)) this.problems.push(`${held.browser.sessionId} was lent twice`);
        if (held.state !== 'claimed' || held.holder !== waiting)
          this.problems.push(`${held.browser.sessionId} has no holder`);
        if (ahead && this.supply.waiting > 0) this.problems.push('a request ahead was served while a worker waits');
        this.lent.add(held);
      },
      () => this.waiting.delete(waiting),
    );
  }

  private back({ which: n, replaced }: Extract<Step, { do: 'back' }>): void {
    const held = nth(this.lent, n);
    if (!held) return;
    this.lent.delete(held);
    this.supply.offer(held, replaced);
  }

  private check(): void {
    const now = this.clock.now();
    const idle = this.browsers.filter((held) => held.state === 'idle');
    for (const { ahead, takesUsed, needMs } of this.waiting) {
      const long = idle.filter(({ browser }) => browser.expiresAt.getTime() - now >= needMs);
      const fits = long.filter(({ record }) => record.workersServed === 0 || takesUsed);
      if (!ahead && fits.length > 0) this.problems.push(`somebody waits, and ${fits[0]?.browser.sessionId} is idle`);
    }
    if (this.underway.size < this.waiting.size) {
      this.problems.push(`${this.waiting.size} wait for ${this.underway.size} fetches`);
    }
    const real = [...this.waiting].filter(({ ahead }) => !ahead).length;
    if (this.supply.waiting !== real) this.problems.push(`says that ${this.supply.waiting} wait, of ${real}`);
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'));
  }
}

function nth<T>(from: Iterable<T>, n: number): T | undefined {
  const all = [...from];
  return all[n % Math.max(1, all.length)];
}

for (const { part, runs } of propertyParts(4, 4_000)) {
  test(`whoever waits gets a browser, who needs one now before who will need one (${part})`, async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const history = new History();
      for (const each of steps) await history.play(each);
      await history.end();
      expect(history.problems).toEqual([]);
    });
    await fc.assert(property, runs);
  });
}
