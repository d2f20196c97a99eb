import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import type { EndReason } from '../../record/enums.ts';
import type { RetryInfo } from '../../service/index.ts';
import type { AcquiredBrowser } from '../browsers/acquired-browser.ts';
import type { BrowserService } from '../browsers/browser-service.ts';
import type { Endable } from '../browsers/end-lease.ts';
import { type HeldBrowser, heldBrowser, type WorkerSlot } from '../browsers/held-browser.ts';
import { noteFor, type RunIdentity } from '../browsers/run-identity.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import type { PoolDirectory } from '../pools/pool-directory.ts';
import { type Order, SurplusOrder } from './pending-orders.ts';
import { RequestAccount } from './request-account.ts';
import { BrowserRequest } from './requests/browser-request.ts';
import type { Priority, RequestScheduler, Waiting } from './requests/request-scheduler.ts';

/** Remembers the service's last refusal to provide a browser. */
export interface Refusals {
  /** The service refused; the request is retried. */
  saw(refusal: RetryInfo): void;
  /** Describes the last refusal; null if there is no recent one. */
  lately(): string | null;
}

/** What {@link BrowserOrders} needs from the broker. */
export interface BrowserOrdersOptions {
  client: BrowserService;
  run: RunIdentity;
  scheduler: RequestScheduler;
  pools: PoolDirectory;
  ledger: Ledger;
  log: Log;
  refusals: Refusals;
  /** Fires when no more browsers are requested. */
  closes: AbortSignal;
  /** Fires when the run stops waiting for the service's responses. */
  ends: AbortSignal;
  /** Called with every new browser, before a worker gets it. */
  onCame(held: HeldBrowser): void;
  /** Called with a browser that no worker gets: ends it. */
  onUnused(held: HeldBrowser, reason: EndReason): void;
  /** Called with every failure. */
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

  /** Requests of which one more browser may run whose ID is unknown: those whose create had an unknown outcome. */
  get doubtful(): RequestAccount[] {
    return [...this.#accounts].filter(({ isDoubtful }) => isDoubtful);
  }

  /** Requests one browser. */
  order(plan: LeasePlan, slot: WorkerSlot, priority: () => Priority, needMs: () => number): Order {
    const { scheduler, ends } = this.#options;
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
        if (waiting === 'capacity')
          return this.#options.client.limited?.reached ?? (await scheduler.describeLimit(limit));
        return plan.pool === null ? waitsFor() : await this.#explainPool(plan, limit);
      },
      giveUp: () => givenUp.abort(new SurplusOrder()),
    };
  }

  /** Resolves when no request is pending. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  async #run(plan: LeasePlan, slot: WorkerSlot, standing: Standing): Promise<HeldBrowser> {
    const { client, run, scheduler, pools, ledger, log, refusals, onCame, onUnused, onFailed, clock, closes, random } =
      this.#options;
    const request = `${run.mark}-${++this.#requests}`;
    const askedAt = new Date(clock.now());
    const order = { plan, slot, askedAt, shard: run.shard };
    let account: RequestAccount | null = null;
    try {
      const pool = await pools.resolve(plan);
      if (closes.aborted) throw new SurplusOrder();
      account = new RequestAccount({
        client,
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
      const asks = new BrowserRequest({ client, plan, pool, ...why, signal, closes, clock, random });
      const browser = await scheduler.ask({
        ...standing,
        send: () => asks.send(),
        next: (error) => asks.next(error),
        onAgain: (error, delayMs) => {
          const { request, code, status, message } = error;
          refusals.saw({ request, attempt: asks.attempts, delayMs, code, status, message });
        },
      });
      const entry = account.taken();
      log.info(`session ${browser.sessionId} from ${browser.source} for slot ${slot.index}`);
      const held = heldBrowser({ browser, request, entry, ...order });
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
    if (waiting === 'capacity') {
      return `${this.#options.client.limited?.reached ?? 'the workspace is at its concurrent-browser limit'}, waiting for a browser to end`;
    }
    const starting = this.#options.client.limited?.starting ?? 'waiting for the service to start one';
    const what = plan.pool === null ? starting : 'waiting for the pool to have one ready';
    const refused = this.#options.refusals.lately();
    return refused === null ? what : `${what} (${refused})`;
  }

  async #explainPool(plan: LeasePlan, signal: AbortSignal): Promise<string> {
    const named = await this.#options.pools.resolve(plan);
    if (!named) return 'waiting for the service to start one';
    const pool = await this.#options.client.getPool(named.id, { signal, retry: 'none' });
    const error = pool.lastError ? `, its last error: "${pool.lastError}"` : '';
    return `pool ${pool.name} (${pool.id}) has no browser ready: it is ${pool.status}, size ${pool.size}, ${pool.ready} ready, ${pool.starting} starting, ${pool.leased} leased${error}`;
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
    source: browser.leaseId === null ? 'session' : 'pool',
    servedBy: null,
    type: null,
    hasOwnState: false,
    cdpUrl: '',
    startedAt: new Date(now),
    lifetimeSeconds: 0,
    expiresAt: new Date(now),
  };
}
