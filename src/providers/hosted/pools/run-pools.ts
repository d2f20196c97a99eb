import { PoolwrightError, ServiceError } from '../../../errors.ts';
import type { LeasePlan } from '../../../options/schema/plan.ts';
import type { RunPoolOptions } from '../../../options/schema/schema.ts';
import type { ServiceClient } from '../../../service/index.ts';
import { LIMITS } from '../../../service/limits.ts';
import type { CreatePoolRequest, Pool, PoolBrowserTemplate } from '../../../service/schemas/index.ts';
import { mayHaveMade } from '../../failure-policy.ts';
import type { BrowserPool, PoolLedger, PoolOwner, RunPools } from '../../port.ts';
import { findPool, HostedPool } from './hosted-pool.ts';
import { isOfBroker, markedTemplate, runPoolName } from './pool-mark.ts';

/** Those that plans name, and those created for the run (`pool: { create: … }`), which are deleted with it. */
export class HostedRunPools implements RunPools {
  /** By the plan's name for it, or by its options. */
  readonly #pools = new Map<string, Promise<Pool>>();
  /** Created pools that are not deleted yet, by ID. */
  readonly #made = new Map<string, Pool>();
  /** Names of pools that may exist because the response to a create was lost. */
  readonly #doubtful = new Set<string>();
  /** Names with a pending create. */
  readonly #underway: string[] = [];
  #asked = 0;

  readonly #client: ServiceClient;
  readonly #run: PoolOwner;
  readonly #ledger: PoolLedger;
  readonly #workers: number;
  readonly #createsNamed: boolean;

  constructor(client: ServiceClient, run: PoolOwner, ledger: PoolLedger, workers: number, createsNamed: boolean) {
    this.#client = client;
    this.#run = run;
    this.#ledger = ledger;
    this.#workers = workers;
    this.#createsNamed = createsNamed;
  }

  async resolve({ pool, session }: Pick<LeasePlan, 'pool' | 'session'>, signal?: AbortSignal) {
    if (pool === null) return null;
    if (typeof pool !== 'string') return await this.#get(JSON.stringify(pool), () => this.#make(pool));
    return await this.#get(pool, async () => {
      if (!this.#createsNamed) return await findPool(this.#client, pool, signal);
      const create = { name: pool.slice(0, LIMITS.poolName.max), browser: templateOf(session) };
      return await this.#make({ create });
    });
  }

  /** Finds or creates a pool on first use. */
  async #get(key: string, find: () => Promise<Pool>): Promise<BrowserPool> {
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = find();
      this.#pools.set(key, pool);
      // If there is none, the next request tries again.
      pool.catch(() => this.#pools.delete(key));
    }
    return new HostedPool(this.#client, await pool);
  }

  async deleteOwn(signal?: AbortSignal): Promise<unknown[]> {
    await Promise.allSettled(this.#pools.values());
    const failures: unknown[] = [];
    for (const entry of [...this.#made.keys(), ...this.#doubtful]) {
      try {
        await deleteRunPool(this.#client, entry, this.#run.mark, signal);
        this.#made.delete(entry);
        this.#doubtful.delete(entry);
        this.#ledger.poolGone(entry);
      } catch (error) {
        failures.push(error);
      }
    }
    this.#pools.clear();
    return failures;
  }

  async #make({ create }: RunPoolOptions): Promise<Pool> {
    const { mark } = this.#run;
    this.#asked += 1;
    const name = create.name ?? runPoolName(this.#run, this.#asked);
    const browser = create.name === undefined ? create.browser : markedTemplate(create.browser, mark);
    this.#ledger.poolAsked(name);
    this.#underway.push(name);
    try {
      const pool = await this.#createOrFind({ ...create, browser, name, size: create.size ?? this.#workers });
      this.#made.set(pool.id, pool);
      this.#ledger.poolAsked(pool.id);
      this.#doubtful.delete(name);
      return pool;
    } finally {
      this.#underway.splice(this.#underway.indexOf(name), 1);
      if (!this.#doubtful.has(name) && !this.#underway.includes(name)) this.#ledger.poolGone(name);
    }
  }

  async #createOrFind(request: CreatePoolRequest): Promise<Pool> {
    const { name } = request;
    try {
      return await this.#client.createPool(request);
    } catch (error) {
      if (mayHaveMade(error)) this.#doubtful.add(name);
      const ours = this.#doubtful.has(name) ? await this.#lookFor(name) : null;
      if (ours) return ours;
      throw error;
    }
  }

  /** Returns the pool of a create with a lost response; null if it does not exist or the search failed. */
  async #lookFor(name: string): Promise<Pool | null> {
    try {
      const pools = await this.#client.listPools();
      const ours = (pool: Pool) => isOfBroker(pool, this.#run.mark) && !this.#made.has(pool.id);
      return pools.find((pool) => pool.name === name && ours(pool)) ?? null;
    } catch (error) {
      if (error instanceof PoolwrightError) return null;
      throw error;
    }
  }
}

/**
 * Deletes a pool that the broker with this mark created, and stops its browsers. A matching name is not enough: the
 * pool must also carry the mark of this broker.
 * @param idOrName as in the ledger: the ID once it is known, the name before
 * @returns its name; null if it does not exist
 */
export async function deleteRunPool(
  client: ServiceClient,
  idOrName: string,
  mark: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const options = signal ? { signal } : {};
  const pools = await client.listPools(options);
  const byName = (pool: Pool) => pool.name === idOrName && isOfBroker(pool, mark);
  const pool = pools.find(({ id }) => id === idOrName) ?? pools.find(byName);
  if (!pool) return null;
  try {
    await client.deletePool(pool.id, { force: true }, options);
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  }
  return pool.name;
}

/** The fields of a session that a pool's template has, too. */
function templateOf(session: LeasePlan['session']): PoolBrowserTemplate {
  const { type: _type, duration: _duration, browserCheck: _check, ...template } = session;
  return template;
}
