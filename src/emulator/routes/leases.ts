import { createRoute, z } from '@hono/zod-openapi';
import { LIMITS } from '../../service/limits.ts';
import {
  acquireRequest,
  acquireResponse,
  poolId,
  releaseRequest,
  releaseResponse,
} from '../../service/schemas/pool.ts';
import { createRouter, errorResponses, jsonBody, jsonResponse, requireBody, security } from '../http.ts';
import type { EmulatorState } from '../state/emulator-state.ts';
import { sessionJson } from './sessions.ts';

const byPoolId = z.object({ poolId });
const errors = errorResponses(400, 401, 403, 404, 409);

const acquire = createRoute({
  operationId: 'acquireBrowser',
  method: 'post',
  path: '/pools/{poolId}/acquire',
  summary: 'Lease a ready browser',
  security,
  middleware: requireBody,
  request: { params: byPoolId, body: jsonBody(acquireRequest) },
  responses: { 200: jsonResponse(acquireResponse, 'The lease and its session'), ...errors },
});

const release = createRoute({
  operationId: 'releaseBrowser',
  method: 'post',
  path: '/pools/{poolId}/release',
  summary: 'Release a leased browser',
  security,
  request: { params: byPoolId, body: jsonBody(releaseRequest) },
  responses: { 200: jsonResponse(releaseResponse, 'The lease, ended'), ...errors },
});

/** Acquire and release (sections 2.3, 3.3, 4.4 and 4.8 of the service document). */
export function leaseRoutes(state: EmulatorState) {
  return createRouter()
    .openapi(acquire, async (c) => {
      const pool = c.var.workspace.pool(c.req.valid('param').poolId);
      const { waitMs = LIMITS.waitMs.default } = c.req.valid('json');
      const { leaseId, session } = await pool.acquire(waitMs, c.req.raw.signal);
      const { sessionId } = session;
      const response = sessionJson(session, state, c.req.header('Host'));
      return c.json({ leaseId, sessionId, poolId: pool.id, cdpUrl: response.cdpUrl, session: response }, 200);
    })
    .openapi(release, async (c) => {
      const pool = c.var.workspace.pool(c.req.valid('param').poolId);
      const { leaseId, session } = pool.leases.get(c.req.valid('json').leaseId);
      await session.stop();
      const { sessionId, stoppedAt: returnedAt } = session;
      return c.json({ poolId: pool.id, leaseId, sessionId, status: 'returned', returnedAt }, 200);
    });
}
