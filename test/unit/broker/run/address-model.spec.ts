import { deepEqual } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import type { Ledger } from '../../../../src/broker/ledger/ledger.ts';
import type { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import { errorMessage } from '../../../../src/common/error-message.ts';
import { ProvidedBrowsers } from '../../../../src/providers/provided-browsers.ts';
import type { RunRecorder } from '../../../../src/record/run-recorder.ts';
import { type At, CONNECT_MS, ScriptedAddresses } from '../../../models/broker/run/scripted-addresses.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { leasingOf, planOf, quiet } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';

/**
 * Random histories of a run on fixed addresses: workers lease, prefetch, cancel, give back, die; the browsers at the
 * addresses die, fall silent and return. In every history, no address has more leases than it takes, each lease is
 * taken back once and no other one is, the address is leased again then, every wait ends, and nothing is said that was
 * not seen. Where the browsers come from a service: leasing-model.
 */

const WORKERS = 4;
const ACQUIRE_TIMEOUT = 60_000;
/** Longer waits are endless: everything that the end of a run may wait for, plus a margin. */
const END_MS = 6_000 + 60_000 + 10_000;

type Step =
  | { do: 'lease'; worker: number; plan: number; prefetch: boolean }
  | { do: 'cancelPrefetch' | 'die'; worker: number }
  | { do: 'giveBack'; which: number; condition: 'healthy' | 'rolled-over' | 'lost'; replaced: boolean }
  | { do: 'expect'; plans: number[] }
  | { do: 'advance'; ms: number }
  | { do: 'turn'; which: number; at: At };

const worker = fc.nat(WORKERS - 1);
const plan = fc.nat(2);
const at = fc.constantFrom<At>('up', 'up', 'refuses', 'silent');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('lease' as const), worker, plan, prefetch: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancelPrefetch' as const, 'die' as const), worker }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('giveBack' as const),
      which: fc.nat(5),
      condition: fc.constantFrom('healthy', 'healthy', 'rolled-over', 'lost'),
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
  { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const), which: fc.nat(2), at }) },
);

const world = fc.record({
  addresses: fc.array(
    fc.record({ scheme: fc.constantFrom('http' as const, 'ws' as const), max: fc.integer({ min: 1, max: 2 }), at }),
    { minLength: 1, maxLength: 3 },
  ),
  latency: fc.constantFrom(1, 20, 3_000),
});

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** A worker's connection and its leased browsers. */
interface Worker {
  holder: object;
  gone: AbortController;
}

/** A worker's request without a response. */
interface Waiting {
  since: number;
  prefetch: boolean;
  project: string;
}

/** One run on scripted addresses. */
class History {
  readonly clock = new FakeClock();
  readonly places: ScriptedAddresses;
  readonly problems: string[] = [];
  private readonly leases: LeaseService;
  private readonly endAll: () => Promise<void>;
  private readonly recorder: RunRecorder;
  private readonly ledger: Ledger;
  private workers: Worker[] = Array.from({ length: WORKERS }, newWorker);
  /** Leases of workers; `connected`: not the ones that connect just now. */
  private readonly leased = new Map<string, { by: Worker; connected: boolean }>();
  private readonly waiting = new Set<Waiting>();
  private closing = false;

  constructor({ addresses, latency }: World) {
    this.places = new ScriptedAddresses(addresses, latency, this.clock);
    this.places.mayEnd = (id) => this.closing || !this.leased.has(id);
    const plans = (['run', 'test', 'worker'] as const).map((reuse) =>
      planOf({ reuse, acquireTimeout: ACQUIRE_TIMEOUT }),
    );
    const { leases, endAll, recorder, ledger } = leasingOf({
      provider: new ProvidedBrowsers(this.places.provider, null, () => this.clock.now()),
      workers: WORKERS,
      plans,
      clock: this.clock,
      random: () => 0.5,
      // Of browsers that are not ended, there is no failure to say.
      log: { ...quiet, error: (text) => void this.problems.push(`said: ${text}`) },
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
    else if (step.do === 'expect') this.leases.prefetch({ projects: step.plans.map((n) => `p${n}`) });
    else if (step.do === 'turn')
      this.pick(this.places.addresses, step.which, (there) => Object.assign(there, { at: step.at }));
    await this.clock.advance(step.do === 'advance' ? step.ms : 0);
    this.check();
  }

  /** The run ends; nothing may be left. Then each address takes as many leases as ever. */
  async end(): Promise<void> {
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
    if (this.places.held.size > 0) this.problems.push(`still leased: ${[...this.places.held.keys()]}`);
    const open = this.recorder.sessions.filter(({ endConfirmed }) => !endConfirmed);
    if (open.length > 0) this.problems.push(`on record as not ended: ${open.map(({ sessionId }) => sessionId)}`);
    if (this.recorder.sessions.length !== this.places.given)
      this.problems.push(`${this.places.given} leases, and ${this.recorder.sessions.length} on record`);
    if (this.ledger.entries.length > 0)
      this.problems.push(`left in the ledger: ${JSON.stringify(this.ledger.entries)}`);
    if (this.clock.timers > 0) this.problems.push(`${this.clock.timers} timers are still set`);
    await this.leaseAll();
    this.problems.push(...this.places.violations);
  }

  private async leaseAll(): Promise<void> {
    for (const there of this.places.addresses) there.at = 'up';
    // Failures do not count any more.
    await this.clock.advance(CONNECT_MS);
    const { addresses, provider, held } = this.places;
    const most = addresses.reduce((sum, { max }) => sum + max, 0);
    const request = { label: '', project: '', needMs: 0, signal: new AbortController().signal };
    for (let n = 0; n < most; n += 1) {
      const leased = provider.acquire(request).catch((error) => this.problems.push(`not leased again: ${error}`));
      await this.clock.advance(10_000);
      await leased;
    }
    if (held.size !== most) this.problems.push(`${held.size} of ${most} are leased again`);
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
        this.leased.set(sessionId, { by: worker, connected: false });
        void this.connect(sessionId, worker);
      },
      (error: unknown) => {
        this.waiting.delete(waiting);
        const text = errorMessage(error);
        if (text.includes('s3cret')) this.problems.push(`has a secret: ${text}`);
        if (text.startsWith('No browser answers') && !this.places.mayDespair(waiting.since))
          this.problems.push(`said, and not so: ${text}`);
      },
    );
  }

  /** As a worker does: one that it cannot connect to comes back. */
  private async connect(sessionId: string, by: Worker): Promise<void> {
    const isConnected = await this.places.connects(sessionId);
    const lease = this.leased.get(sessionId);
    if (lease?.by !== by) return;
    lease.connected = true;
    if (!isConnected) this.returned(sessionId, 'unreachable', false);
  }

  private giveBack({ which, condition, replaced }: Extract<Step, { do: 'giveBack' }>): void {
    const connected = [...this.leased].filter(([, lease]) => lease.connected);
    this.pick(connected, which, ([sessionId]) => {
      const isUp = this.places.isUp(sessionId);
      if (isUp) this.places.hasResponded(sessionId);
      // Its worker finds that it does not respond.
      this.returned(sessionId, isUp ? condition : 'lost', replaced, condition === 'healthy' && which % 2 === 1);
    });
  }

  private returned(
    sessionId: string,
    condition: 'healthy' | 'rolled-over' | 'lost' | 'unreachable',
    toBeReplaced: boolean,
    unused = false,
  ): void {
    const lease = this.leased.get(sessionId);
    this.leased.delete(sessionId);
    if (lease) void this.leases.giveBack({ sessionId, condition, toBeReplaced, unused }, lease.by.holder);
  }

  private die(n: number): void {
    const worker = this.worker(n);
    this.workers[n] = newWorker();
    for (const [sessionId, { by }] of this.leased) if (by === worker) this.leased.delete(sessionId);
    worker.gone.abort();
    this.leases.holderGone(worker.holder);
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
      const fits = idle.find((each) => each.project === project && (project === 'p0' || each.workersServed === 0));
      if (fits) this.problems.push(`a worker of ${project} waits, and ${fits.sessionId} is idle`);
    }
    this.problems.push(...this.places.violations.splice(0));
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'));
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

for (const { part, runs } of propertyParts(3, 1_500)) {
  test(`fixed addresses: in every history, none is leased to too many, none is left, and nothing untrue is said (${part})`, async () => {
    let given = 0;
    const property = fc.asyncProperty(world, fc.array(step, { maxLength: 40, size: 'max' }), async (how, steps) => {
      const history = new History(how);
      for (const each of steps) await history.play(each);
      await history.end();
      deepEqual(history.problems, []);
      given += history.places.given;
    });
    await fc.assert(property, runs);
    // A model in which nothing happens would satisfy every check.
    expect(given).toBeGreaterThan(runs.numRuns);
  });
}
