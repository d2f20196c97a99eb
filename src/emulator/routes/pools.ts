import { z } from '@hono/zod-openapi';
import { redactText } from '../../redact.ts';
import { LIMITS } from '../../service/limits.ts';
import {
  acquireRequest,
  acquireResponse,
  createPoolRequest,
  deletePoolResponse,
  flushResponse,
  poolId,
  poolList,
  pool as poolSchema,
  releaseRequest,
  releaseResponse,
  updatePoolRequest,
} from '../../service/schemas/pool.ts';
import { createRouter, jsonBody, jsonResponse, requireBody, route } from '../http.ts';
import type { BrowserPool, PoolTemplate } from '../state/browser-pool.ts';
import type { TemplateBody } from '../state/browser-request.ts';
import type { EmulatorState } from '../state/emulator-state.ts';
import type { Workspace } from '../state/workspace.ts';
import { sessionJson } from './sessions.ts';

const byPoolId = z.object({ poolId });
const errors = [400, 403, 404, 409] as const;

const createPool = route('post', '/pools', {
  operationId: 'createPool',
  summary: 'Create a pool',
  request: { body: jsonBody(createPoolRequest) },
  responses: { 201: jsonResponse(poolSchema, 'The pool') },
  errors,
});

const listPools = route('get', '/pools', {
  operationId: 'listPools',
  summary: 'List pools',
  responses: { 200: jsonResponse(poolList, 'All pools of the workspace') },
  errors,
});

const getPool = route('get', '/pools/{poolId}', {
  operationId: 'getPool',
  summary: 'Get a pool',
  request: { params: byPoolId },
  responses: { 200: jsonResponse(poolSchema, 'The pool') },
  errors,
});

const updatePool = route('patch', '/pools/{poolId}', {
  operationId: 'updatePool',
  summary: 'Update a pool',
  request: { params: byPoolId, body: jsonBody(updatePoolRequest) },
  responses: { 200: jsonResponse(poolSchema, 'The pool') },
  errors,
});

const deletePool = route('delete', '/pools/{poolId}', {
  operationId: 'deletePool',
  summary: 'Delete a pool',
  request: { params: byPoolId, query: z.object({ force: z.enum(['true', 'false']).optional() }) },
  responses: { 200: jsonResponse(deletePoolResponse, 'Deleted') },
  errors,
});

const flushPool = route('post', '/pools/{poolId}/flush', {
  operationId: 'flushPool',
  summary: 'Replace the warm browsers of a pool',
  request: { params: byPoolId },
  responses: { 200: jsonResponse(flushResponse, 'How many browsers were stopped') },
  errors,
});

const acquire = route('post', '/pools/{poolId}/acquire', {
  operationId: 'acquireBrowser',
  summary: 'Lease a ready browser',
  middleware: requireBody,
  request: { params: byPoolId, body: jsonBody(acquireRequest) },
  responses: { 200: jsonResponse(acquireResponse, 'The lease and its session') },
  errors,
});

const release = route('post', '/pools/{poolId}/release', {
  operationId: 'releaseBrowser',
  summary: 'Release a leased browser',
  request: { params: byPoolId, body: jsonBody(releaseRequest) },
  responses: { 200: jsonResponse(releaseResponse, 'The lease, ended') },
  errors,
});

/** `/v1/browser/pools` (sections 2.2, 4.5 and 4.8 of the service document). */
export function poolRoutes() {
  return createRouter()
    .openapi(createPool, (c) => {
      const { browser, ...settings } = c.req.valid('json');
      const pool = c.var.workspace.createPool({ ...settings, template: template(browser ?? {}, c.var.workspace) });
      return c.json(poolJson(pool), 201);
    })
    .openapi(listPools, (c) => c.json({ pools: c.var.workspace.pools.map(poolJson) }, 200))
    .openapi(getPool, (c) => c.json(poolJson(c.var.workspace.pool(c.req.valid('param').poolId)), 200))
    .openapi(updatePool, async (c) => {
      const { workspace } = c.var;
      const pool = workspace.pool(c.req.valid('param').poolId);
      const { browser, ...changes } = c.req.valid('json');
      await workspace.updatePool(pool, { ...changes, template: browser && template(browser, workspace) });
      return c.json(poolJson(pool), 200);
    })
    .openapi(deletePool, async (c) => {
      const { workspace } = c.var;
      const pool = workspace.pool(c.req.valid('param').poolId);
      await workspace.deletePool(pool, c.req.valid('query').force === 'true');
      return c.json({ success: true }, 200);
    })
    .openapi(flushPool, async (c) => {
      const pool = c.var.workspace.pool(c.req.valid('param').poolId);
      return c.json({ poolId: pool.id, stopped: await pool.flush() }, 200);
    });
}

function template(body: TemplateBody, workspace: Workspace): PoolTemplate {
  return { body, spec: workspace.browserSpec(body) };
}

function poolJson(pool: BrowserPool) {
  const { template, name, size, leaseTimeoutSeconds, maxReadyAgeSeconds } = pool.settings;
  const { body, spec } = template;
  return {
    id: pool.id,
    name,
    size,
    status: pool.status,
    ...pool.counts,
    browser: {
      ...body,
      country: spec.country,
      timezone: spec.timezone,
      language: spec.language,
      ...(body.proxyUrl === undefined ? {} : { proxyUrl: redactText(body.proxyUrl) }),
    },
    leaseTimeoutSeconds,
    maxReadyAgeSeconds,
    lastError: pool.lastError,
    createdAt: pool.createdAt,
    updatedAt: pool.updatedAt,
  };
}

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
