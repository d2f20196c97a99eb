import * as z from 'zod';
import { ServiceError } from '../../errors.ts';
import { API } from '../endpoints.ts';
import { callApi, prepare } from '../http/api-call.ts';
import type { AcquireOptions } from '../http/client-options.ts';
import type { Call, ServiceCore } from '../http/core.ts';
import { explainAmbiguous, withNote } from '../http/failures.ts';
import type { ApiResponse } from '../http/http.ts';
import { LIMITS } from '../limits.ts';
import { type AcquireRequest, acquireResponse } from '../schemas/index.ts';

/** Leases (sections 2.3, 3.3, 4.4 and 4.8 of the service document). */

/** A browser leased from a pool. */
export interface AcquiredLease {
  /** For `release`. */
  leaseId: string;
  /** ID of its pool. */
  poolId: string;
  /** ID of its session. */
  sessionId: string;
  /** Secret: it gives full control of the browser. */
  cdpUrl: string;
  /** The node that serves it; null when the service did not say. */
  servedBy: string | null;
  /** When the browser was warmed, not when it was leased; ISO 8601, null when the service did not say. */
  createdAt: string | null;
}

/** Enough of a lease to release it, should the rest be unreadable. */
const leased = z.looseObject({ leaseId: z.string().min(1) });
type AcquireCall = Call<typeof leased>;

const ENDS_BY_ITSELF = `ends by itself at the pool's \`leaseTimeoutSeconds\` (default ${LIMITS.leaseTimeoutSeconds.default} s)`;

export async function acquire(
  core: ServiceCore,
  poolId: string,
  body: AcquireRequest,
  options: AcquireOptions,
): Promise<AcquiredLease> {
  const call: AcquireCall = {
    ...prepare(core, API.acquire, { id: poolId, body }),
    schema: leased,
    timeoutMs: (body.waitMs ?? LIMITS.waitMs.default) + (options.timeout ?? core.timeout),
  };
  const lost = `A browser may have been leased all the same; its lease cannot be looked up, and ${ENDS_BY_ITSELF}.`;
  const response = await explainAmbiguous(core.request(call, options), lost);
  let isHandedOver = false;
  const onKnown: AcquireOptions['onKnown'] = (lease) => {
    isHandedOver = options.onKnown !== undefined;
    options.onKnown?.(lease);
  };
  try {
    return await readLease(core, poolId, call, response, { ...options, onKnown });
  } catch (error) {
    if (isHandedOver) throw error;
    const released = await releaseUnread(core, poolId, response.data.leaseId);
    throw error instanceof ServiceError ? withNote(error, released) : error;
  }
}

/**
 * `cdpUrl` and `sessionId` stand beside the lease's ID or inside `session`. Without them, this requests the session.
 */
async function readLease(
  core: ServiceCore,
  poolId: string,
  call: AcquireCall,
  response: ApiResponse<z.output<typeof leased>>,
  options: AcquireOptions,
): Promise<AcquiredLease> {
  const { leaseId, session, ...beside } = core.checkResponse(acquireResponse, response, call);
  const unusable = (problem: string) =>
    core.badResponse({ ...call, subject: `lease ${leaseId}` }, response.status, problem);
  const sessionId = beside.sessionId || session?.sessionId;
  if (!sessionId) throw unusable('no `sessionId`, neither beside `leaseId` nor in `session`');
  options.onKnown?.({ leaseId, sessionId });
  const inResponse = beside.cdpUrl || session?.cdpUrl;
  const asked = inResponse ? null : await callApi(core, API.getSession, { query: { sessionId } }, options);
  const cdpUrl = inResponse || asked?.cdpUrl;
  if (!cdpUrl) throw unusable(`no \`cdpUrl\`, neither in it nor in session ${sessionId}`);
  return {
    leaseId,
    poolId,
    sessionId,
    cdpUrl,
    servedBy: beside.servedBy ?? session?.servedBy ?? asked?.servedBy ?? null,
    createdAt: beside.createdAt ?? session?.createdAt ?? asked?.createdAt ?? null,
  };
}

/** Ignores the caller's signal, because an unusable lease must always be released. */
async function releaseUnread(core: ServiceCore, poolId: string, leaseId: string): Promise<string> {
  try {
    await callApi(core, API.release, { id: poolId, body: { leaseId } }, {});
    return `Lease ${leaseId} was released.`;
  } catch {
    return `Lease ${leaseId} could not be released: it ${ENDS_BY_ITSELF}.`;
  }
}
