import { ServiceError } from '../../errors.ts';
import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import { explainAmbiguous } from '../http/failures.ts';
import { secretsOf } from '../http/secrets-of.ts';
import {
  type CreatePoolRequest,
  createPoolRequest,
  deletePoolResponse,
  type FlushedPool,
  flushResponse,
  type Pool,
  pool,
  poolId as poolIdSchema,
  poolList,
  type UpdatePoolRequest,
  updatePoolRequest,
} from '../schemas/index.ts';

/** Pools (sections 2.2, 4.5 and 4.8 of the service document). */

const POOLS = '/v1/browser/pools';

/** The path of a pool. @throws PoolwrightError `REQUEST_INVALID` for an ID that cannot be one */
export function poolPath(core: ServiceCore, poolId: string, action = ''): string {
  core.check(poolIdSchema, poolId, `The request for pool ${JSON.stringify(poolId)}`);
  return `${POOLS}/${encodeURIComponent(poolId)}${action}`;
}

export async function createPool(core: ServiceCore, body: CreatePoolRequest, options: CallOptions): Promise<Pool> {
  const json = core.check(createPoolRequest, body, `POST ${POOLS}`);
  const secrets = secretsOf(json.browser ?? {});
  const sent = core.request({ method: 'POST', path: POOLS, json, schema: pool, repeat: 'never', secrets }, options);
  const left = `The pool "${json.name}" may have been made all the same, and keep browsers warm: look with listPools before you create it again.`;
  return (await explainAmbiguous(sent, left)).data;
}

export async function getPool(core: ServiceCore, poolId: string, options: CallOptions): Promise<Pool> {
  const path = poolPath(core, poolId);
  return (await core.request({ method: 'GET', path, schema: pool, repeat: 'always' }, options)).data;
}

export async function listPools(core: ServiceCore, options: CallOptions): Promise<Pool[]> {
  return (await core.request({ method: 'GET', path: POOLS, schema: poolList, repeat: 'always' }, options)).data.pools;
}

export async function updatePool(
  core: ServiceCore,
  poolId: string,
  body: UpdatePoolRequest,
  options: CallOptions,
): Promise<Pool> {
  const path = poolPath(core, poolId);
  const json = core.check(updatePoolRequest, body, `PATCH ${path}`);
  const secrets = secretsOf(json.browser ?? {});
  return (await core.request({ method: 'PATCH', path, json, schema: pool, repeat: 'always', secrets }, options)).data;
}

export async function deletePool(
  core: ServiceCore,
  poolId: string,
  { force }: { force?: boolean },
  options: CallOptions,
): Promise<void> {
  const path = poolPath(core, poolId);
  const query = force ? { force } : {};
  try {
    await core.request({ method: 'DELETE', path, query, schema: deletePoolResponse, repeat: 'always' }, options);
  } catch (error) {
    // A request before this one has deleted it, and its response was lost.
    const deletedBefore = error instanceof ServiceError && error.code === 'SERVICE_NOT_FOUND' && error.attempts > 1;
    if (!deletedBefore) throw error;
  }
}

export async function flushPool(core: ServiceCore, poolId: string, options: CallOptions): Promise<FlushedPool> {
  const path = poolPath(core, poolId, '/flush');
  const sent = core.request({ method: 'POST', path, schema: flushResponse, repeat: 'if-responded' }, options);
  return (
    await explainAmbiguous(sent, 'The pool may have been flushed all the same: look at its `ready` and `starting`.')
  ).data;
}
