import { setMaxListeners } from 'node:events';
import { type Clock, systemClock, type Timer } from '../../common/clock.ts';
import { LeaseError, type ServiceError } from '../../errors.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import { planKey } from '../../options/lease-plan.ts';
import type { EndReason } from '../../record/run-record.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { PoolDirectory } from '../pools/pool-directory.ts';
import type { BrokerConfig } from '../process/config.ts';
import type { Log } from '../process/log.ts';
import type { Ledger } from '../recovery/ledger.ts';
import { stopLostCreates } from '../recovery/lost-creates.ts';
import type { GiveBackParams, LeasedBrowser, LeaseParams, PrefetchParams, RunState } from '../rpc/protocol.ts';
import { AheadRequests } from './ahead-requests.ts';
import { BrowserEnder } from './browser-ender.ts';
import { BrowserFetcher } from './browser-fetcher.ts';
import { CapacityGate } from './capacity-gate.ts';
import { endsTheRun } from './ends-the-run.ts';
import { asMessage, type HeldBrowser, type Holder, isFresh, takeBackUnused } from './held-browser.ts';
import { RequestClock } from './request-clock.ts';
import { noteFor, type RunIdentity } from './run-identity.ts';
import { runStateOf } from './run-state.ts';
import { Supply } from './supply.ts';
import { WaitNotices } from './wait-notices.ts';

/** What the registry needs to know of the run. */
export interface RegistryOptions {
  client: BrowserService;
  run: RunIdentity;
  /** Parallel workers of the run. */
  workers: number;
  /** What each project on hosted browsers needs. */
  projects: BrokerConfig['projects'];
  ledger: Ledger;
  log: Log;
  /** What the service said last instead of giving a browser, if that was lately. */
  trouble(): string | null;
  recorder: RunRecorder;
  /** Default: the machine's. */
  clock?: Clock;
  /** Source of jitter, from 0 up to 1. Default `Math.random`. */
  random?(): number;
}

/** How long the end of a run waits for requests already at the service, in ms. */
const PENDING_GRACE_MS = 6_000;
/** How long it waits for the service to confirm every end, in ms. What is not confirmed then stays in the ledger. */
const CONFIRM_GRACE_MS = 60_000;
/** How long a worker waits, in ms, until a browser that it is done with has ended and its profile is saved. */
const SAVED_MS = 10_000;
/** After this long the terminal says which ends are waited for, in ms. */
const SLOW_END_MS = 3_000;
/** How often notes say that the run is alive, in ms. */
const BEAT_MS = 5 * 60_000;

/** Owns every browser of a run: lends it, takes it back, keeps it for the next worker, and ends it exactly once. */
export class LeaseRegistry {
  readonly gate: CapacityGate;

  readonly #browsers = new Map<string, HeldBrowser>();
  readonly #supplies = new Map<string, Supply>();
  readonly #pools: PoolDirectory;
  readonly #fetcher: BrowserFetcher;
  readonly #ender: BrowserEnder;
  readonly #notices: WaitNotices;
  readonly #ahead = new AheadRequests();
  readonly #clock: Clock;
  #beat: Timer | null = null;
  /** Fires when no browser is lent any more: the run ends, or nothing will come. */
  readonly #closing = new AbortController();
  /** Fires when answers to requests for browsers are not waited for any more. */
  readonly #pendingOver = new AbortController();
  /** Fires when the service's word on the ends is not waited for any more. */
  readonly #endingOver = new AbortController();

  readonly #options: RegistryOptions;

  constructor(options: RegistryOptions) {
    this.#options = options;

    // Every request of the run listens to them, as long as it is under way.
    for (const { signal } of [this.#closing, this.#pendingOver, this.#endingOver]) setMaxListeners(0, signal);
    const { client, run, workers, ledger, log, trouble, clock = systemClock, random = Math.random } = options;
    this.#clock = clock;
    this.gate = new CapacityGate({
      client,
      runId: run.runId,
      held: () => this.#held().length,
      owns: (sessionId) => this.#browsers.has(sessionId),
      clock,
      random,
    });
    this.#pools = new PoolDirectory(client, run, ledger, workers);
    this.#fetcher = new BrowserFetcher({
      client,
      run,
      gate: this.gate,
      pools: this.#pools,
      ledger,
      log,
      trouble,
      clock,
      closes: this.#closing.signal,
      ends: this.#pendingOver.signal,
      onFetched: (held) => {
        this.#browsers.set(held.lease.sessionId, held);
        options.recorder.add(held.record);
      },
      onFailed: (error) => {
        if (endsTheRun(error)) this.#close(error);
      },
    });
    this.#ender = new BrowserEnder({
      client,
      ledger,
      log,
      clock,
      ends: this.#endingOver.signal,
      onEnded: (confirmed) => {
        if (confirmed) this.gate.slotFreed();
        options.recorder.changed();
      },
    });
    this.#notices = new WaitNotices(log, clock);
    this.#beatLater();
  }

  /** What becomes of the browsers at the moment. */
  get state(): Omit<RunState, 'said'> {
    return runStateOf([...this.#browsers.values()], [...this.#supplies.values()]);
  }

  /** Checks that a named pool exists, before any browser is asked for. */
  async checkPool(idOrName: string) {
    return await this.#pools.resolve(idOrName);
  }

  /** Fetches browsers for workers that Playwright is starting. */
  prefetch({ projects }: PrefetchParams): void {
    if (this.#closing.signal.aborted) return;
    projects.forEach((project, slot) => {
      const plan = this.#options.projects.find(({ name }) => name === project)?.plan;
      if (plan) this.#supplyOf(plan).prefetch({ project, slot });
    });
  }

  /** The browser for a worker: an idle one of the same plan, or the next one that comes. */
  async lease(params: LeaseParams, holder: Holder, holderGone: AbortSignal): Promise<LeasedBrowser> {
    const ahead = params.ahead ? this.#ahead.begin(holder) : null;
    try {
      return await this.#leaseUntil(params, holder, ahead ? AbortSignal.any([holderGone, ahead.signal]) : holderGone);
    } catch (error) {
      if (!ahead && !holderGone.aborted) this.#failed(error);
      throw error;
    } finally {
      ahead?.done();
    }
  }

  /** Ends this worker's requests for browsers that it does not need yet; one that has its browser is over already. */
  cancelAhead(holder: Holder): void {
    this.#ahead.cancel(holder);
  }

  async #leaseUntil(params: LeaseParams, holder: Holder, given: AbortSignal): Promise<LeasedBrowser> {
    const { plan, project, parallelIndex: slot, needMs, ahead = false } = params;
    const place = { project, slot };
    const supply = this.#supplyOf(plan);
    const clock = new RequestClock({
      place,
      acquireTimeout: plan.acquireTimeout,
      ends: this.#closing.signal,
      waitsFor: () => supply.waitsFor,
      explain: (signal) => supply.explain(signal),
      late: (late) => ahead || this.#notices.add(late),
      clock: this.#clock,
    });
    try {
      const asked = { holder, place, needMs, takesUsed: plan.reuse === 'run', ahead };
      const held = await supply.take(asked, AbortSignal.any([clock.signal, given]));
      this.#renote(held);
      return asMessage(held);
    } finally {
      clock.stop();
    }
  }

  /**
   * A worker lets go of its browser; a healthy one goes to the next worker. One that saves its profile when it ends is
   * ended, and waited for: the project that comes next may count on it.
   */
  async giveBack({ sessionId, condition, toBeReplaced, unused }: GiveBackParams, holder: Holder): Promise<void> {
    const held = this.#browsers.get(sessionId);
    if (held?.state !== 'claimed' || held.holder !== holder) return;
    if (condition === 'unreachable') return this.#end(held, 'connect-failed');
    if (condition !== 'healthy') return this.#end(held, condition);
    if (unused) takeBackUnused(held);
    const goesOn = (held.plan.reuse === 'run' || isFresh(held)) && !this.#closing.signal.aborted;
    if (goesOn && (toBeReplaced || !savesProfile(held))) return this.#supplyOf(held.plan).offer(held, toBeReplaced);
    this.#end(held, 'finished');
    if (savesProfile(held)) await this.#endedWithin(held, SAVED_MS);
  }

  /** A worker's connection broke: whatever it still claims is ended at once, never handed on. */
  holderGone(holder: Holder): void {
    for (const held of this.#browsers.values()) {
      if (held.state === 'claimed' && held.holder === holder) this.#end(held, 'worker-died');
    }
  }

  /** Gives everything back and waits for the service's word on each. Safe to call again. */
  async endAll(): Promise<void> {
    this.#beat?.cancel();
    this.#notices.stop();
    this.#close(new LeaseError('BROKER_LOST', 'The run is ending: no browser is lent any more.'));
    this.#endHeld();
    const clock = this.#clock;
    const confirm = clock.after(CONFIRM_GRACE_MS, () => this.#endingOver.abort(new Error('not confirmed in time')));
    const slow = clock.after(SLOW_END_MS, () => this.#saySlowEnd());
    const pending = clock.after(PENDING_GRACE_MS, () => this.#pendingOver.abort(new Error('not answered in time')));
    await this.#fetcher.settled();
    pending.cancel();
    this.#endHeld();
    await Promise.all([...this.#browsers.values()].map((held) => held.ended));
    const { client, ledger, log } = this.#options;
    const { doubtful } = this.#fetcher;
    await stopLostCreates({ client, ledger, log, doubtful, signal: this.#endingOver.signal });
    for (const failure of await this.#pools.deleteOwn()) log.error('a pool of this run was not deleted', failure);
    confirm.cancel();
    slow.cancel();
  }

  /** No browser is lent any more; who waits gets this error. */
  #close(reason: LeaseError | ServiceError): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(reason);
    for (const supply of this.#supplies.values()) supply.refuseAll(reason);
  }

  #supplyOf(plan: LeaseParams['plan']): Supply {
    const key = planKey(plan);
    const known = this.#supplies.get(key);
    if (known) return known;
    const supply = new Supply(
      {
        fetch: (place, yields) => this.#fetcher.fetch(plan, place, yields),
        end: (held, reason) => this.#end(held, reason),
        failedUnseen: (error) => this.#failed(error),
      },
      this.#clock,
    );
    this.#supplies.set(key, supply);
    return supply;
  }

  #end(held: HeldBrowser, reason: EndReason): void {
    this.#supplyOf(held.plan).forget(held);
    this.#ender.end(held, reason);
  }

  #endHeld(): void {
    for (const held of this.#held()) this.#end(held, 'run-ended');
  }

  #held(): HeldBrowser[] {
    return [...this.#browsers.values()].filter(({ state }) => state === 'claimed' || state === 'idle');
  }

  #failed(error: unknown): void {
    this.#options.recorder.leaseFailed(error instanceof Error ? error.message : String(error));
  }

  /** A browser that now fills another place says so in its note. */
  #renote(held: HeldBrowser): void {
    const { record, place } = held;
    if (record.workersServed > 1 || place.slot !== record.parallelIndex) this.#writeNote(held);
  }

  #saySlowEnd(): void {
    const ending = [...this.#browsers.values()].filter(({ state }) => state === 'ending');
    const what = ending.length === 1 ? `browser ${ending[0]?.lease.sessionId}` : `${ending.length} browsers`;
    if (ending.length > 0) this.#options.log.momentary(`waiting for the service to confirm the end of ${what}`);
  }

  #beatLater(): void {
    this.#beat = this.#clock.after(BEAT_MS, () => {
      this.#options.ledger.beat();
      for (const held of this.#held()) this.#writeNote(held);
      this.#beatLater();
    });
    this.#beat.unref();
  }

  async #endedWithin(held: HeldBrowser, ms: number): Promise<void> {
    let timer: Timer | undefined;
    const over = new Promise<void>((resolve) => {
      timer = this.#clock.after(ms, resolve);
      timer.unref();
    });
    await Promise.race([held.ended, over]);
    timer?.cancel();
  }

  #writeNote({ lease, request, place, plan }: HeldBrowser): void {
    const note = noteFor(this.#options.run, place, request, plan);
    // Only a note: a session that has ended meanwhile is found out by its worker.
    this.#options.client.updateSession(lease.sessionId, { note }).catch(() => undefined);
  }
}

/** A pool's template is not known here; what its browsers save is saved when they have been idle. */
function savesProfile({ plan, lease }: HeldBrowser): boolean {
  return lease.leaseId === null && plan.session.profile?.persist === true;
}
