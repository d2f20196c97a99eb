import type { RunPoolOptions } from '../../options/schema/schema.ts';
import type { Pool } from '../../service/schemas/index.ts';
import type { BrowserService } from '../browsers/browser-service.ts';
import type { RunIdentity } from '../browsers/run-identity.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { findPool } from './find-pool.ts';
import { RunPools } from './run-pools.ts';

/** Returns the pool of a plan: finds or creates each pool once per run. */
export class PoolDirectory {
  readonly #named = new Map<string, Promise<Pool>>();
  readonly #own: RunPools;

  readonly #client: BrowserService;

  constructor(client: BrowserService, run: RunIdentity, ledger: Ledger, workers: number) {
    this.#client = client;

    this.#own = new RunPools(client, run, ledger, workers);
  }

  /** @param signal ends the search for a pool that is not known yet, for everyone who waits for it */
  async resolve(pool: string | RunPoolOptions, signal?: AbortSignal): Promise<Pool> {
    if (typeof pool !== 'string') return await this.#own.get(pool);
    let found = this.#named.get(pool);
    if (!found) {
      found = findPool(this.#client, pool, signal);
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
