import { createRoute, z } from '@hono/zod-openapi';
import { redactText } from '../../redact.ts';
import {
  createPoolRequest,
  deletePoolResponse,
  flushResponse,
  poolId,
  poolList,
  pool as poolSchema,
  updatePoolRequest,
} from '../../service/schemas/pool.ts';
import { createRouter, errorResponses, jsonBody, jsonResponse, security } from '../http.ts';
import type { BrowserPool, PoolTemplate } from '../state/browser-pool.ts';
import type { TemplateBody } from '../state/browser-request.ts';
import type { Workspace } from '../state/workspace.ts';

const byPoolId = z.object({ poolId });
const errors = errorResponses(400, 401, 403, 404, 409);

const createPool = createRoute({
  operationId: 'createPool',
  method: 'post',
  path: '/pools',
  summary: 'Create a pool',
  security,
  request: { body: jsonBody(createPoolRequest) },
  responses: { 201: jsonResponse(poolSchema, 'The pool'), ...errors },
});

const listPools = createRoute({
  operationId: 'listPools',
  method: 'get',
  path: '/pools',
  summary: 'List pools',
  security,
  responses: { 200: jsonResponse(poolList, 'All pools of the workspace'), ...errors },
});

const getPool = createRoute({
  operationId: 'getPool',
  method: 'get',
  path: '/pools/{poolId}',
  summary: 'Get a pool',
  security,
  request: { params: byPoolId },
  responses: { 200: jsonResponse(poolSchema, 'The pool'), ...errors },
});

const updatePool = createRoute({
  operationId: 'updatePool',
  method: 'patch',
  path: '/pools/{poolId}',
  summary: 'Update a pool',
  security,
  request: { params: byPoolId, body: jsonBody(updatePoolRequest) },
  responses: { 200: jsonResponse(poolSchema, 'The pool'), ...errors },
});

const deletePool = createRoute({
  operationId: 'deletePool',
  method: 'delete',
  path: '/pools/{poolId}',
  summary: 'Delete a pool',
  security,
  request: { params: byPoolId, query: z.object({ force: z.enum(['true', 'false']).optional() }) },
  responses: { 200: jsonResponse(deletePoolResponse, 'Deleted'), ...errors },
});

const flushPool = createRoute({
  operationId: 'flushPool',
  method: 'post',
  path: '/pools/{poolId}/flush',
  summary: 'Replace the warm browsers of a pool',
  security,
  request: { params: byPoolId },
  responses: { 200: jsonResponse(flushResponse, 'How many browsers were stopped'), ...errors },
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
