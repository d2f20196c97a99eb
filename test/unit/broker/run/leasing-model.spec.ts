import { deepEqual } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { parseNote } from '../../../../src/broker/browsers/session-note.ts';
import type { Ledger } from '../../../../src/broker/ledger/ledger.ts';
import { PrefetchCancelled } from '../../../../src/broker/rpc/messages/refusals.ts';
import type { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import type { LeasePlan } from '../../../../src/options/schema/plan.ts';
import { ProvidedBrowsers } from '../../../../src/providers/provided-browsers.ts';
import type { RunRecorder } from '../../../../src/record/run-recorder.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { hosted, leasingOf, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { scriptedProvider } from '../../../support/unit/broker/scripted-provider.ts';
import { type Outcome, ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/**
 * Random histories of a run: workers lease, prefetch, cancel, give back, die; browsers end by themselves; the service
 * refuses, breaks connections and loses responses; other runs share the workspace. In every history, each requested
 * browser ends once and no foreign browser does, no worker waits while a suitable browser is idle, and every wait ends.
 */

const WORKERS = 4;
const ACQUIRE_TIMEOUT = 60_000;
/** Longer waits are endless: everything that the end of a run may wait for, plus a margin. */
const END_MS = 6_000 + 60_000 + 10_000;

type Step =
  | { do: 'lease'; worker: number; plan: number; prefetch: boolean }
  | { do: 'cancelPrefetch' | 'die'; worker: number }
  | { do: 'giveBack'; which: number; condition: 'healthy' | 'rolled-over' | 'lost' | 'unreachable'; replaced: boolean }
  | { do: 'expect'; plans: number[] }
  | { do: 'advance'; ms: number }
  | { do: 'lose'; which: number }
  | { do: 'other'; starts: boolean }
  | { do: 'script'; kind: 'ask' | 'end' | 'pool' | 'list'; outcome: Outcome };

const worker = fc.nat(WORKERS - 1);
const plan = fc.nat(3);
/** How calls of each kind may fail. */
const OUTCOMES: Record<'ask' | 'end' | 'pool' | 'list', Outcome[]> = {
  ask: [400, 403, 409, 429, 503, 504, 'reset-done', 'reset-undone', 502, 'doubt-503', 'twin', 'unusable'],
  end: [400, 403, 409, 503, 'reset-done', 'reset-undone'],
  pool: [409, 503, 502, 'reset-done', 'reset-undone'],
  list: [503],
};
const script = (kind: keyof typeof OUTCOMES) =>
  fc.record({
    do: fc.constant('script' as const),
    kind: fc.constant(kind),
    outcome: fc.constantFrom(...OUTCOMES[kind]),
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('lease' as const), worker, plan, prefetch: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancelPrefetch' as const, 'die' as const), worker }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('giveBack' as const),
      which: fc.nat(5),
      condition: fc.constantFrom('healthy', 'healthy', 'rolled-over', 'lost', 'unreachable'),
      replaced: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expect' as const), plans: fc.array(plan, { maxLength: 3 }) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(0, 30, 100, 2_000, 6_000, 31_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('other' as const), starts: fc.boolean() }) },
  { weight: 3, arbitrary: script('ask') },
  { weight: 2, arbitrary: script('end') },
  { weight: 1, arbitrary: fc.oneof(script('pool'), script('list')) },
  { weight: 1, arbitrary: fc.constant({ do: 'script' as const, kind: 'ask' as const, outcome: 402 as const }) },
);

const world = fc.record({
  limit: fc.constantFrom(1, 2, 3, 100),
  unlisted: fc.constantFrom(0, 0, 1),
  known: fc.boolean(),
  latency: fc.constantFrom(1, 20, 3_000),
  madeWhenAborted: fc.boolean(),
  /** Whether the browsers come through a provider, and whether it has a list. It has no pools. */
  from: fc.constantFrom(
    'service' as const,
    'service' as const,
    'provider' as const,
    'provider without a list' as const,
  ),
});

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** A worker's request without a response. */
interface Waiting {
  since: number;
  prefetch: boolean;
  project: string;
}

/** A worker's connection and its leased browsers. */
interface Worker {
  holder: object;
  gone: AbortController;
}

/** One run against a scripted service. */
class History {
  readonly clock = new FakeClock();
  readonly service = new ScriptedService(this.clock);
  readonly leases: LeaseService;
  readonly endAll: () => Promise<void>;
  readonly recorder: RunRecorder;
  readonly ledger: Ledger;
  private readonly from: World['from'];
  private readonly lists: boolean;
  readonly plans: LeasePlan[];
  readonly problems: string[] = [];
  private workers: Worker[] = Array.from({ length: WORKERS }, newWorker);
  private readonly leased = new Map<string, Worker>();
  private readonly waiting = new Set<Waiting>();
  private closing = false;
  /** How many failures the run may record: real requests that failed, and failed browsers for expected workers. */
  private reasons = 0;

  constructor({ limit, unlisted, known, latency, madeWhenAborted, from }: World) {
    const provided = from !== 'service';
    this.from = from;
    this.lists = from !== 'provider without a list';
    Object.assign(this.service, { limit, unlisted, latency, madeWhenAborted });
    const pool = this.service.addPool('warm', { warm: 3 });
    this.plans = [
      planOf({ reuse: 'run' }),
      planOf({ reuse: 'test', session: { type: 'hosted_stealth' } }),
      planOf({ reuse: 'run', pool: pool.id, fallback: 'session' }),
      planOf({ reuse: 'worker', pool: { create: { name: 'of-the-user' } }, fallback: 'fail' }),
    ].map((each) => ({ ...each, ...(provided && { pool: null }), acquireTimeout: ACQUIRE_TIMEOUT }));
    this.service.mayEnd = (sessionId) => this.closing || !this.leased.has(sessionId);
    const { leases, endAll, recorder, ledger } = leasingOf({
      provider: provided
        ? new ProvidedBrowsers(scriptedProvider(this.service, this.lists), 'scripted', () => this.clock.now())
        : hosted(this.service),
      workers: WORKERS,
      plans: this.plans,
      limit: known && limit < 100 ? limit : null,
      clock: this.clock,
      random: () => 0.5,
    });
    this.leases = leases;
    this.endAll = endAll;
    this.recorder = recorder;
    this.ledger = ledger;
  }

  async play(step: Step): Promise<void> {
    if (step.do === 'lease') this.lease(step);
    else if (step.do === 'cancelPrefetch') this.leases.cancelPrefetch(this.worker(step.worker).holder);
    else if (step.do === 'die') this.die(step.worker);
    else if (step.do === 'giveBack') this.giveBack(step);
    else if (step.do === 'expect') this.expect(step.plans);
    else if (step.do === 'lose') this.pick([...this.service.running], step.which, (each) => this.service.lose(each));
    else if (step.do === 'other') this.other(step.starts);
    // A provider that loses a browser without a failure breaks its contract.
    else if (step.do === 'script' && !(this.from !== 'service' && step.outcome === 'twin'))
      this.service.script[step.kind].push(step.outcome);
    await this.clock.advance(step.do === 'advance' ? step.ms : 0);
    this.check();
  }

  /** The run ends while the service works again; nothing may be left. */
  async end(): Promise<void> {
    for (const list of Object.values(this.service.script)) list.length = 0;
    this.closing = true;
    let over = false;
    const ended = this.endAll().then(() => {
      over = true;
    });
    await this.clock.advance(END_MS);
    if (!over) this.problems.push('the end of the run has no bound');
    else await ended;
    await settled();
    if (this.waiting.size > 0) this.problems.push(`${this.waiting.size} requests were never answered`);
    for (const { sessionId, told, poolId } of this.service.running.filter(({ ours }) => ours)) {
      // Only the response to an acquire names its lease, and without a list nothing names a lost browser.
      if (told || (poolId === null && this.lists)) this.problems.push(`${sessionId} was left running`);
    }
    for (const pool of this.service.pools.values()) {
      if (pool.ours) this.problems.push(`pool ${pool.name} was left`);
    }
    const open = this.recorder.sessions.filter(({ endConfirmed }) => !endConfirmed);
    if (open.length > 0) this.problems.push(`on record as not ended: ${open.map(({ sessionId }) => sessionId)}`);
    // A provider may list a browser only when its `acquire` is over. Only what is unknown stays in the ledger.
    const left = this.ledger.entries.filter(({ sessionId }) => sessionId !== null || this.from === 'service');
    if (left.length > 0) this.problems.push(`left in the ledger: ${JSON.stringify(left)}`);
    if (this.clock.timers > 0) this.problems.push(`${this.clock.timers} timers are still set`);
  }

  private lease({ worker: n, plan: which, prefetch }: Extract<Step, { do: 'lease' }>): void {
    const worker = this.worker(n);
    const project = `p${which}`;
    const waiting = { since: this.clock.now(), prefetch, project };
    this.waiting.add(waiting);
    const params = { project, parallelIndex: n, needMs: 30_000, prefetch };
    this.leases.lease(params, worker.holder, worker.gone.signal).then(
      ({ sessionId }) => {
        this.waiting.delete(waiting);
        if (this.leased.has(sessionId)) this.problems.push(`${sessionId} was leased twice`);
        if (worker.gone.signal.aborted) this.problems.push(`${sessionId} was leased to a dead worker`);
        this.leased.set(sessionId, worker);
      },
      (error: unknown) => {
        this.waiting.delete(waiting);
        if (!prefetch && !worker.gone.signal.aborted) this.reasons += 1;
        if (!prefetch && error instanceof PrefetchCancelled)
          this.problems.push('a request that was not a prefetch was taken back');
      },
    );
  }

  private expect(plans: readonly number[]): void {
    this.reasons += plans.length;
    this.leases.prefetch({ projects: plans.map((n) => `p${n}`) });
  }

  private die(n: number): void {
    const worker = this.worker(n);
    this.workers[n] = newWorker();
    for (const [sessionId, by] of this.leased) if (by === worker) this.leased.delete(sessionId);
    worker.gone.abort();
    this.leases.holderGone(worker.holder);
  }

  private giveBack({ which, condition, replaced }: Extract<Step, { do: 'giveBack' }>): void {
    this.pick([...this.leased], which, ([sessionId, { holder }]) => {
      this.leased.delete(sessionId);
      const unused = condition === 'healthy' && which % 2 === 1;
      void this.leases.giveBack({ sessionId, condition, toBeReplaced: replaced, unused }, holder);
    });
  }

  private other(starts: boolean): void {
    const others = this.service.running.filter(({ ours }) => !ours);
    if (!starts) this.pick(others, 0, (each) => this.service.lose(each));
    else if (this.service.running.length + this.service.unlisted < this.service.limit)
      this.service.addOther('of somebody');
  }

  private check(): void {
    for (const { since, project } of this.waiting) {
      const waited = this.clock.now() - since;
      if (waited > ACQUIRE_TIMEOUT) this.problems.push(`a request of ${project} waits for ${waited} ms`);
    }
    const idle = this.recorder.sessions.filter(
      ({ endingAt, sessionId }) => endingAt === null && !this.leased.has(sessionId),
    );
    for (const { project } of [...this.waiting].filter(({ prefetch }) => !prefetch)) {
      // Of the same plan; projects other than p0 accept only fresh browsers.
      const fits = idle.find((each) => each.project === project && (project === 'p0' || each.workersServed === 0));
      if (fits) this.problems.push(`a worker of ${project} waits, and ${fits.sessionId} is idle`);
    }
    this.problems.push(...this.service.violations.splice(0));
    this.checkLedger();
    // One look at the incomplete list may justify a request, and a success justifies one again.
    const reasons = 1 + this.recorder.sessions.length + this.service.failedAsks;
    if (this.service.idleRepeats > reasons)
      this.problems.push(`${this.service.idleRepeats} requests again after a 403`);
    if (this.reasons === 0 && this.recorder.leaseFailures.length > 0) {
      this.problems.push(`counted as a failure of the run: ${this.recorder.leaseFailures}`);
    }
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'));
  }

  /** If the broker died now, its ledger must name every session that runs: by its ID from the response on. */
  private checkLedger(): void {
    const { entries } = this.ledger;
    const ids = new Set(entries.map(({ sessionId }) => sessionId));
    const open = new Set(entries.filter(({ sessionId }) => sessionId === null).map(({ request }) => request));
    for (const { sessionId, ours, told, poolId, note } of this.service.running) {
      if (!ours || ids.has(sessionId) || (!told && open.has(parseNote(note)?.request ?? ''))) continue;
      // The note of a lease tells whose it is only later.
      if (told || poolId === null) this.problems.push(`${sessionId} runs, and is in no ledger`);
    }
  }

  private worker(n: number): Worker {
    return this.workers[n] as Worker;
  }

  private pick<T>(from: readonly T[], which: number, then: (one: T) => void): void {
    const one = from[which % Math.max(1, from.length)];
    if (one) then(one);
  }
}

function newWorker(): Worker {
  return { holder: {}, gone: new AbortController() };
}

for (const { part, runs } of propertyParts(6, 3_000)) {
  test(`in every history, no browser is left, leased twice or taken from others, and every wait ends (${part})`, async () => {
    const property = fc.asyncProperty(world, fc.array(step, { maxLength: 40, size: 'max' }), async (how, steps) => {
      const history = new History(how);
      for (const each of steps) await history.play(each);
      await history.end();
      deepEqual(history.problems, []);
    });
    await fc.assert(property, runs);
  });
}
