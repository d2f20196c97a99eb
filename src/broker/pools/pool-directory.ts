import type { LeasePlan } from '../../options/schema/plan.ts';
import { LIMITS } from '../../service/limits.ts';
import type { Pool, PoolBrowserTemplate } from '../../service/schemas/index.ts';
import type { BrowserService } from '../browsers/browser-service.ts';
import type { RunIdentity } from '../browsers/run-identity.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { findPool } from './find-pool.ts';
import { RunPools } from './run-pools.ts';

/** Of a run, for its pools. */
export interface PoolDirectoryOptions {
  /** Number of browsers in a pool without `size`. */
  workers: number;
  /** Whether named pools are created, too: the run's own emulator begins without pools. */
  createsNamed: boolean;
}

/** Returns the pool of a plan: finds or creates each pool once per run. */
export class PoolDirectory {
  readonly #named = new Map<string, Promise<Pool>>();
  readonly #own: RunPools;

  readonly #client: BrowserService;
  readonly #createsNamed: boolean;

  constructor(
    client: BrowserService,
    run: RunIdentity,
    ledger: Ledger,
    { workers, createsNamed }: PoolDirectoryOptions,
  ) {
    this.#client = client;
    this.#createsNamed = createsNamed;

    this.#own = new RunPools(client, run, ledger, workers);
  }

  /**
   * The pool of a plan; null: its browsers are sessions.
   * @param signal ends the search for a pool that is not known yet, for everyone who waits for it
   */
  async resolve({ pool, session }: Pick<LeasePlan, 'pool' | 'session'>, signal?: AbortSignal): Promise<Pool | null> {
    if (pool === null) return null;
    if (typeof pool !== 'string') return await this.#own.get(pool);
    let found = this.#named.get(pool);
    if (!found) {
      found = this.#createsNamed
        ? this.#own.get({ create: { name: pool.slice(0, LIMITS.poolName.max), browser: templateOf(session) } })
        : findPool(this.#client, pool, signal);
      this.#named.set(pool, found);
      found.catch(() => this.#named.delete(pool));
    }
    return await found;
  }

  /** Deletes the pools created for this run; returns the failures. */
  async deleteOwn(signal?: AbortSignal): Promise<unknown[]> {
    return await this.#own.deleteAll(signal);
  }
}

/** The fields of a session that a pool's template has, too. */
function templateOf(session: LeasePlan['session']): PoolBrowserTemplate {
  const { type: _type, duration: _duration, browserCheck: _check, ...template } = session;
  return template;
}
