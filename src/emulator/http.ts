import type { HttpBindings } from '@hono/node-server';
import { type Hook, OpenAPIHono, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';
import type { Workspace } from './state/workspace.ts';

/** What every route knows of its caller. */
export interface ApiEnv {
  /** Node's side of the request; a request that came by no socket has none. */
  Bindings: Partial<HttpBindings>;
  Variables: { workspace: Workspace };
}

export type ApiApp = OpenAPIHono<ApiEnv>;

/** A router whose validation errors are a 400 with a message that names the field. */
export function createRouter(): ApiApp {
  return new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid });
}

const refuseInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (!result.success) throw new ApiError(400, result.error.issues.map(describe).join('; '));
};

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return `${issue.keys.map((key) => [path, key].filter(Boolean).join('.')).join(', ')}: unknown field`;
  }
  return path ? `${path}: ${issue.message}` : issue.message;
}

const errorBody = z.object({ error: z.string(), code: z.string().optional() });

/** Descriptions of a route's error responses, for `/doc`. */
export function errorResponses<S extends number>(...statuses: S[]) {
  const entries = statuses.map((status) => [
    status,
    { description: 'Error', content: { 'application/json': { schema: errorBody } } },
  ]);
  return Object.fromEntries(entries) as Record<S, { description: string }>;
}

export function jsonBody<T extends z.ZodType>(schema: T) {
  return { content: { 'application/json': { schema } }, required: true };
}

/** For the calls whose body is required though every field of it is optional: `{}` at least. */
export const requireBody: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (c.req.header('Content-Type') === undefined) throw new ApiError(400, 'A JSON body is required, {} at least');
  await next();
};

export function jsonResponse<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** Every endpoint but `/doc` takes a workspace's key. */
export const security = [{ bearer: [] }];
