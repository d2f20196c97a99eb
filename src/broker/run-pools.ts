import { ServiceError } from '../errors.ts';
import type { RunPoolOptions } from '../options/schema.ts';
import { isAmbiguous, type ServiceClient } from '../service/index.ts';
import { LIMITS } from '../service/limits.ts';
import type { Pool } from '../service/schemas/index.ts';
import type { Ledger } from './ledger.ts';
import type { RunIdentity } from './run-identity.ts';

/** The pools made for this run (`pool: { create: … }`): each made once, on first need, and deleted with the run. */
export class RunPools {
  private readonly pools = new Map<string, Promise<Pool>>();
  /** Of every pool that was asked for and may be there. */
  private readonly names = new Set<string>();

  constructor(
    private readonly client: ServiceClient,
    private readonly run: RunIdentity,
    private readonly ledger: Ledger,
    /** Browsers a pool gets when its `size` is left out. */
    private readonly workers: number,
  ) {}

  /** The pool for these options, made when it is asked for the first time. */
  async get(options: RunPoolOptions): Promise<Pool> {
    const key = JSON.stringify(options);
    const known = this.pools.get(key);
    if (known) return await known;
    const pool = this.make(options);
    this.pools.set(key, pool);
    // A pool that could not be made is asked for again by the next request.
    pool.catch(() => this.pools.delete(key));
    return await pool;
  }

  /** Deletes them all, with what they still hold; answers the failures. */
  async deleteAll(): Promise<unknown[]> {
    await Promise.allSettled(this.pools.values());
    const failures: unknown[] = [];
    for (const name of [...this.names]) {
      try {
        await deletePoolByName(this.client, name);
        this.forget(name);
      } catch (error) {
        failures.push(error);
      }
    }
    this.pools.clear();
    return failures;
  }

  private async make({ create }: RunPoolOptions): Promise<Pool> {
    const name = create.name ?? runPoolName(this.run, this.names.size + 1);
    this.names.add(name);
    this.ledger.poolAsked(name);
    try {
      return await this.client.createPool({ ...create, name, size: create.size ?? this.workers });
    } catch (error) {
      // A name that was taken is somebody else's pool.
      if (!(error instanceof ServiceError && isAmbiguous(error))) this.forget(name);
      throw error;
    }
  }

  private forget(name: string): void {
    this.names.delete(name);
    this.ledger.poolGone(name);
  }
}

/** Deletes a pool and stops what it holds; one that is not there is deleted already. */
export async function deletePoolByName(client: ServiceClient, name: string): Promise<void> {
  const pool = (await client.listPools()).find((each) => each.name === name);
  if (!pool) return;
  try {
    await client.deletePool(pool.id, { force: true });
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  }
}

/** Unique, because a pool's name is and shards of one CI run share its ID; at most as long as a name may be. */
function runPoolName({ suite, runId, mark }: RunIdentity, number: number): string {
  const end = `-${mark}-${number}`;
  return `${`poolwright-${suite}-${runId}`.slice(0, LIMITS.poolName.max - end.length)}${end}`;
}
