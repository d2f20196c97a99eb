import { randomBytes } from 'node:crypto';
import type { RunPoolOptions } from '../options/schema.ts';
import type { ServiceClient } from '../service/index.ts';
import type { Pool } from '../service/schemas/index.ts';

/** The pools made for this run (`pool: { create: … }`): each made once, on first need, and deleted with the run. */
export class RunPools {
  /** Shards of one CI run share its ID, and a pool's name is unique. */
  private readonly mark = randomBytes(3).toString('hex');
  private readonly pools = new Map<string, Promise<Pool>>();

  constructor(
    private readonly client: ServiceClient,
    private readonly runId: string,
    /** Browsers a pool gets when its `size` is left out. */
    private readonly workers: number,
  ) {}

  /** The pool for these options, made when it is asked for the first time. */
  async get(options: RunPoolOptions): Promise<Pool> {
    const key = JSON.stringify(options);
    const known = this.pools.get(key);
    if (known) return await known;
    const number = this.pools.size + 1;
    const pool = this.client.createPool({
      ...options.create,
      name: options.create.name ?? `poolwright-${this.runId}-${this.mark}-${number}`,
      size: options.create.size ?? this.workers,
    });
    this.pools.set(key, pool);
    // A pool that could not be made is asked for again by the next request.
    pool.catch(() => this.pools.delete(key));
    return await pool;
  }

  /** Deletes them all, with what they still hold; answers the failures. */
  async deleteAll(): Promise<unknown[]> {
    const made = await Promise.allSettled(this.pools.values());
    const ids = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []));
    this.pools.clear();
    const deleted = await Promise.allSettled(ids.map((id) => this.client.deletePool(id, { force: true })));
    return deleted.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  }
}
