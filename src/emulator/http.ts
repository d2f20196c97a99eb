import type { HttpBindings } from '@hono/node-server';
import { createRoute, type Hook, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';
import type { Workspace } from './state/workspace.ts';

/** The caller, for every route. */
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

type RouteSpec = Omit<RouteConfig, 'method' | 'path' | 'security'>;

/** An endpoint of the service: `responses` of its success, `errors` besides 401, which every endpoint has. */
export function route<
  M extends RouteConfig['method'],
  P extends string,
  const R extends RouteSpec,
  E extends number = never,
>(method: M, path: P, { errors = [], ...spec }: R & { errors?: readonly E[] }) {
  const refusals = [401, ...errors].map((status) => [status, jsonResponse(errorBody, 'Error')]);
  const responses: R['responses'] & Record<401 | E, { description: string }> = {
    ...spec.responses,
    ...Object.fromEntries(refusals),
  };
  return createRoute({ ...(spec as Omit<R, 'errors'>), method, path, security, responses });
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

/**
 * How much of a body that is too large is read and dropped: a client that still sends when the connection closes would
 * not see the response.
 */
const MAX_DROPPED_BYTES = 256 * 1024 ** 2;

/** Refuses bodies of more than `maxBytes` with a 400 that says `problem`; what is refused is not kept in memory. */
export function limitBody(maxBytes: number, problem: string): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { body } = c.req.raw;
    const isChunked = c.req.header('Transfer-Encoding') !== undefined;
    const declared = isChunked ? undefined : c.req.header('Content-Length');
    if (!body || Number(declared) <= maxBytes) return await next();
    // Of a body with a declared size, nothing is kept; one without must be read to know its size.
    const bytes = await readUpTo(declared === undefined ? maxBytes : 0, body);
    if (!bytes) throw new ApiError(400, problem);
    c.req.raw = new Request(c.req.raw, { body: bytes });
    await next();
  };
}

/** Undefined for more than `maxBytes`. */
async function readUpTo(maxBytes: number, body: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (bytes > maxBytes + MAX_DROPPED_BYTES) break;
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : undefined;
}
