import { OptionsError, ServiceError } from '../../../errors.ts';
import type { ServiceClient } from '../../../service/index.ts';
import { LIMITS } from '../../../service/limits.ts';
import type { Pool } from '../../../service/schemas/index.ts';

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
