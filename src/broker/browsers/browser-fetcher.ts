import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { OptionsError, ServiceError } from '../../errors.ts';
import { acquireBrowser, type Waiting } from '../../lease/acquire.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import type { LeasePlan } from '../../options/lease-plan.ts';
import { isAmbiguous } from '../../service/index.ts';
import type { PoolDirectory } from '../pools/pool-directory.ts';
import type { Log } from '../process/log.ts';
import type { Ledger } from '../recovery/ledger.ts';
import type { CapacityGate } from './capacity-gate.ts';
import { type Fetch, SurplusFetch } from './fetch.ts';
import { type HeldBrowser, heldBrowser, type WorkerSlot } from './held-browser.ts';
import { noteFor, type RunIdentity } from './run-identity.ts';

/** What fetching needs of its broker. */
export interface FetcherOptions {
  client: BrowserService;
  run: RunIdentity;
  gate: CapacityGate;
  pools: PoolDirectory;
  ledger: Ledger;
  log: Log;
  /** Fires when nothing is asked for any more. */
  closes: AbortSignal;
  /** Fires when no answer of the service is waited for any more. */
  ends: AbortSignal;
  /** Called with every browser that was got, before anybody else has it. */
  onFetched(held: HeldBrowser): void;
  /** Called with every failure. */
  onFailed(error: unknown): void;
  /** What the service said last instead of giving a browser, if that was lately. */
  trouble(): string | null;
  clock: Clock;
}

/** Gets browsers from the service, one request at a time each, and writes them into the ledger before it asks. */
export class BrowserFetcher {
  /** Requests with a create whose outcome was not known: there may be one more session with their note. */
  readonly doubtful = new Set<string>();

  #requests = 0;
  readonly #underway = new Set<Promise<HeldBrowser>>();

  readonly #options: FetcherOptions;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** Begins to fetch one. @param yields whether no worker waits for it now */
  fetch(plan: LeasePlan, slot: WorkerSlot, yields: () => boolean): Fetch {
    const givenUp = new AbortController();
    const signal = AbortSignal.any([givenUp.signal, this.#options.ends]);
    let waiting: Waiting = 'answer';
    const onWait = (what: Waiting) => {
      waiting = what;
    };
    const browser = this.#run(plan, slot, { signal, yields, onWait });
    this.#underway.add(browser);
    const done = () => this.#underway.delete(browser);
    browser.then(done, done);
    const { gate } = this.#options;
    const waitsFor = () => this.#waitsFor(plan, waiting);
    return {
      browser,
      get parked() {
        return waiting !== 'answer';
      },
      get waitsFor() {
        return waitsFor();
      },
      explain: async (limit) => {
        if (waiting === 'capacity') return await gate.describe(limit);
        return waiting === 'pool' || plan.pool !== null ? await this.#explainPool(plan, limit) : waitsFor();
      },
      giveUp: () => givenUp.abort(new SurplusFetch()),
    };
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underway);
  }

  async #run(plan: LeasePlan, slot: WorkerSlot, { signal, yields, onWait }: FetchRun): Promise<HeldBrowser> {
    const { client, run, gate, pools, ledger, log, onFetched, onFailed, clock, closes } = this.#options;
    const unlessClosed = () => {
      if (closes.aborted) throw new SurplusFetch();
    };
    const request = `${run.mark}-${++this.#requests}`;
    const askedAt = new Date(clock.now());
    try {
      const pool = plan.pool === null ? null : await pools.resolve(plan.pool);
      unlessClosed();
      ledger.asked(request, pool?.id ?? null);
      const browser = await acquireBrowser(plan, {
        client,
        pool,
        note: noteFor(run, slot, request, plan),
        signal,
        onWait,
        onDoubt: () => this.doubtful.add(request),
        withinLimit: async (send, onParked) => {
          const ask = () => {
            unlessClosed();
            return send();
          };
          return await gate.ask(ask, { signal, yields, onParked });
        },
        clock,
      });
      ledger.got(request, browser);
      log.info(`session ${browser.sessionId} from ${browser.source} for slot ${slot.index}`);
      const held = heldBrowser({ browser, request, plan, slot, askedAt, shard: run.shard });
      onFetched(held);
      return held;
    } catch (error) {
      // One that may have had its effect stays in the ledger until the session list says otherwise.
      if (!this.doubtful.has(request) && !mayHaveLeftOne(error)) ledger.settled(request);
      log.info(`no browser for slot ${slot.index}: ${errorMessage(error)}`);
      onFailed(error);
      throw error;
    }
  }

  #waitsFor(plan: LeasePlan, waiting: Waiting): string {
    if (waiting === 'capacity') return 'the workspace is at its concurrent-browser limit, waiting for a browser to end';
    const what = plan.pool === null ? 'waiting for the service to start one' : 'waiting for the pool to have one ready';
    const trouble = this.#options.trouble();
    return trouble === null ? what : `${what} (${trouble})`;
  }

  async #explainPool(plan: LeasePlan, signal: AbortSignal): Promise<string> {
    if (plan.pool === null) return this.#waitsFor(plan, 'answer');
    const { id } = await this.#options.pools.resolve(plan.pool);
    const pool = await this.#options.client.getPool(id, { signal, retry: 'none' });
    const error = pool.lastError ? `, its last error: "${pool.lastError}"` : '';
    return `pool ${pool.name} (${pool.id}) has no browser ready: it is ${pool.status}, size ${pool.size}, ${pool.ready} ready, ${pool.starting} starting, ${pool.leased} leased${error}`;
  }
}

/** One fetch: until when, before whom, and who is told what it waits for. */
interface FetchRun {
  signal: AbortSignal;
  yields(): boolean;
  onWait(what: Waiting): void;
}

/** Whether the failed request may have made a session that nobody knows of. */
function mayHaveLeftOne(error: unknown): boolean {
  if (error instanceof SurplusFetch) return false;
  if (error instanceof ServiceError) return isAmbiguous(error);
  return !(error instanceof OptionsError);
}
