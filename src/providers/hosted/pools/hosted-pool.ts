import { OptionsError, ServiceError } from '../../../errors.ts';
import { hasOwnState } from '../../../options/context-mode.ts';
import type { LeasePlan } from '../../../options/schema/plan.ts';
import type { ServiceClient } from '../../../service/index.ts';
import { LIMITS } from '../../../service/limits.ts';
import type { Pool } from '../../../service/schemas/index.ts';
import type { AcquireRequest, BrowserPool, GrantedBrowser } from '../../port.ts';

/** Duration of one long poll of the pool, in ms: short, because the end of a run waits for its response. */
const POOL_WAIT_MS = 5_000;

/** A pool of the service. */
export class HostedPool implements BrowserPool {
  readonly id: string;
  readonly size: number;
  readonly #pool: Pool;
  readonly #client: ServiceClient;

  constructor(client: ServiceClient, pool: Pool) {
    this.#client = client;
    this.#pool = pool;
    this.id = pool.id;
    this.size = pool.size;
  }

  warning(wanted: number, many: string, fallback: LeasePlan['fallback']): string | null {
    const { id, name: called, status, size, ready, lastError } = this.#pool;
    const name = `pool ${called} (${id})`;
    const instead =
      fallback === 'session'
        ? 'sessions are created instead'
        : "workers wait, and fail at `acquireTimeout` (`fallback: 'fail'`)";
    if (status === 'paused' || status === 'deleting') return `${name} is ${status}: ${instead}`;
    if (status === 'degraded') return `${name} is degraded (${ready ?? 0} of ${size} ready${lastErrorOf(lastError)})`;
    if (wanted <= size) return null;
    return `${many} want ${wanted} browsers of ${name}, which keeps ${size} warm: the others take a browser's start longer`;
  }

  async explain(signal: AbortSignal): Promise<string> {
    const pool = await this.#client.getPool(this.id, { signal, retry: 'none' });
    return `pool ${pool.name} (${pool.id}) has no browser ready: it is ${pool.status}, size ${pool.size}, ${pool.ready} ready, ${pool.starting} starting, ${pool.leased} leased${lastErrorOf(pool.lastError)}`;
  }

  async acquire({ label, signal, account }: AcquireRequest): Promise<GrantedBrowser> {
    const poolId = this.id;
    const { leaseId, sessionId, servedBy, cdpUrl } = await this.#client.acquire(
      poolId,
      { waitMs: POOL_WAIT_MS },
      { signal, retry: 'none', onKnown: (lease) => account.known({ ...lease, poolId }) },
    );
    // The note tells whose session it is. A session without a note still works.
    this.#client.updateSession(sessionId, { note: label }).catch(() => undefined);
    return {
      sessionId,
      leaseId,
      poolId,
      servedBy,
      type: 'hosted',
      hasOwnState: hasOwnState(this.#pool.browser ?? {}),
      cdpUrl,
      lifetimeSeconds: this.#pool.leaseTimeoutSeconds ?? LIMITS.leaseTimeoutSeconds.default,
    };
  }
}

function lastErrorOf(error: string | null | undefined): string {
  return error ? `, its last error: "${error}"` : '';
}

/**
 * Returns the pool that the option `pool` (or `POOLWRIGHT_POOL`) names by its ID or its unique name.
 * @throws OptionsError if the workspace has no such pool; lists its pools
 */
export async function findPool(client: ServiceClient, idOrName: string, signal?: AbortSignal): Promise<Pool> {
  return await findPoolOr(client, idOrName, signal, (problem, known) => {
    const wayOut =
      'Name one of them in `pool` or POOLWRIGHT_POOL, or let the run make its own: `pool: { create: {} }`.';
    return new OptionsError('pool', `\`pool\`: ${problem} ${known} ${wayOut}`);
  });
}

/**
 * Returns a pool by its ID or its unique name.
 * @param missing creates the error for a workspace without it, from the problem and the existing pools
 */
export async function findPoolOr(
  client: ServiceClient,
  idOrName: string,
  signal: AbortSignal | undefined,
  missing: (problem: string, known: string) => Error,
): Promise<Pool> {
  const mayBeId = idOrName.length >= LIMITS.poolId.min && idOrName.length <= LIMITS.poolId.max;
  if (mayBeId) {
    try {
      return await client.getPool(idOrName, { signal });
    } catch (error) {
      // A name may look like an ID, and a service may reject it as malformed (400) or as unknown (404).
      if (!(error instanceof ServiceError && (error.status === 404 || error.status === 400))) throw error;
    }
  }
  const pools = await client.listPools({ signal });
  const named = pools.find((pool) => pool.name === idOrName || pool.id === idOrName);
  if (named) return named;
  const known = pools.map((pool) => `${pool.id} (${pool.name})`).join(', ');
  const problem = `there is no pool "${idOrName}" in this workspace (404).`;
  throw missing(problem, known ? `It has: ${known}.` : 'It has none.');
}
