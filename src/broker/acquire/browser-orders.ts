import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import { refusalOf } from '../../providers/failure-policy.ts';
import type { BrowserProvider, Endable, RunPools } from '../../providers/port.ts';
import type { EndReason } from '../../record/enums.ts';
import { type AcquiredBrowser, type HeldBrowser, heldBrowser, type WorkerSlot } from '../browsers/held-browser.ts';
import { noteFor, type RunIdentity } from '../browsers/session-note.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import { type Order, SurplusOrder } from './pending-orders.ts';
import type { RecentRefusal } from './recent-refusal.ts';
import { RequestAccount } from './request-account.ts';
import { BrowserRequest } from './requests/browser-request.ts';
import type { Priority, RequestScheduler, Waiting } from './requests/request-scheduler.ts';

export interface BrowserOrdersOptions {
  provider: BrowserProvider;
  run: RunIdentity;
  scheduler: RequestScheduler;
  pools: Pick<RunPools, 'resolve'>;
  ledger: Ledger;
  log: Log;
  refusals: Pick<RecentRefusal, 'lately' | 'saw'>;
  /** Fires when no more browsers are requested. */
  closes: AbortSignal;
  /** Fires when the run stops waiting for the service's responses. */
  ends: AbortSignal;
  /** Called with every new browser, before a worker gets it. */
  onCame(held: HeldBrowser): void;
  /** Called with a browser that no worker gets: ends it. */
  onUnused(held: HeldBrowser, reason: EndReason): void;
  onFailed(error: unknown): void;
  clock: Clock;
  random(): number;
}

/** Requests browsers from the service. Writes each request into the ledger before it is sent. */
export class BrowserOrders {
  #requests = 0;
  readonly #accounts = new Set<RequestAccount>();
  readonly #pending = new Set<Promise<HeldBrowser>>();
  readonly #options: BrowserOrdersOptions;

  constructor(options: BrowserOrdersOptions) {
    this.#options = options;
  }

  /** Requests with a create of unknown outcome: one more browser with an unknown ID may run for each of them. */
  get doubtful(): RequestAccount[] {
    return [...this.#accounts].filter(({ isDoubtful }) => isDoubtful);
  }

  order(plan: LeasePlan, slot: WorkerSlot, priority: () => Priority, needMs: () => number): Order {
    const { scheduler, ends, pools, provider } = this.#options;
    const { limited } = provider;
    const givenUp = new AbortController();
    const signal = AbortSignal.any([givenUp.signal, ends]);
    let waiting: Waiting = 'response';
    const onWait = (what: Waiting) => {
      waiting = what;
    };
    const browser = this.#run(plan, slot, { signal, priority, needMs, onWait });
    this.#pending.add(browser);
    const done = () => this.#pending.delete(browser);
    browser.then(done, done);
    const waitsFor = () => this.#waitsFor(plan, waiting);
    return {
      browser,
      get parked() {
        return waiting !== 'response';
      },
      get waitsFor() {
        return waitsFor();
      },
      explain: async (limit) => {
        if (waiting === 'capacity') return limited.isShared ? await scheduler.describeLimit(limit) : limited.reached;
        return (await (await pools.resolve(plan))?.explain(limit)) ?? waitsFor();
      },
      giveUp: () => givenUp.abort(new SurplusOrder()),
    };
  }

  /** Resolves when no request is pending. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  async #run(plan: LeasePlan, slot: WorkerSlot, standing: Standing): Promise<HeldBrowser> {
    const { provider, run, scheduler, pools, ledger, log, refusals, clock, closes, random } = this.#options;
    const { onCame, onUnused, onFailed } = this.#options;
    const request = `${run.mark}-${++this.#requests}`;
    const askedAt = new Date(clock.now());
    const order = { plan, slot, askedAt, shard: run.shard };
    let account: RequestAccount | null = null;
    try {
      const pool = await pools.resolve(plan);
      if (closes.aborted) throw new SurplusOrder();
      account = new RequestAccount({
        provider,
        request,
        poolId: pool?.id ?? null,
        askedAt: clock.now(),
        ledger,
        end: (browser, entry, reason) =>
          onUnused(heldBrowser({ browser: unusedBrowser(browser, clock.now()), request, entry, ...order }), reason),
      });
      this.#accounts.add(account);
      const note = noteFor(run, slot, request, plan);
      const { signal, needMs } = standing;
      const { project } = slot;
      const why = { project, needMs, note, account };
      const asks = new BrowserRequest({ provider, plan, pool, ...why, signal, closes, clock, random });
      const browser = await scheduler.ask({
        ...standing,
        send: () => asks.send(),
        next: (error) => asks.next(error),
        onAgain: (error, delayMs) => refusals.saw(refusalOf(error, asks.attempts, delayMs)),
      });
      const entry = account.taken();
      const held = heldBrowser({ browser, request, entry, ...order });
      log.info(`session ${browser.sessionId} from ${held.record.source} for slot ${slot.index}`);
      onCame(held);
      return held;
    } catch (error) {
      account?.failed(error);
      log.info(`no browser for slot ${slot.index}: ${errorMessage(error)}`);
      onFailed(error);
      throw error;
    }
  }

  #waitsFor(plan: LeasePlan, waiting: Waiting): string {
    const { reached, starting } = this.#options.provider.limited;
    if (waiting === 'capacity') return `${reached}, waiting for a browser to end`;
    const what = plan.pool === null ? starting : 'waiting for the pool to have one ready';
    const refused = this.#options.refusals.lately();
    return refused === null ? what : `${what} (${refused})`;
  }
}

/** The state of one order: its abort signal, its priority, and a callback that reports what it waits for. */
interface Standing {
  signal: AbortSignal;
  priority(): Priority;
  needMs(): number;
  onWait(what: Waiting): void;
}

/** A browser that no worker gets, as it is known when its address is not. */
function unusedBrowser(browser: Endable, now: number): AcquiredBrowser {
  return {
    ...browser,
    servedBy: null,
    type: null,
    hasOwnState: false,
    cdpUrl: '',
    startedAt: new Date(now),
    lifetimeSeconds: 0,
    expiresAt: new Date(now),
  };
}
