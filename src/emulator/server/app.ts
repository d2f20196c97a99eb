import type { Context, ErrorHandler, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ApiError } from '../api-error.ts';
import { type ApiApp, type ApiEnv, createRouter, limitBody } from '../http.ts';
import { extensionRoutes, isUpload } from '../routes/extensions.ts';
import { leaseRoutes, poolRoutes } from '../routes/pools.ts';
import { sessionRoutes } from '../routes/sessions.ts';
import { accountRoutes, networkRoutes, profileRoutes } from '../routes/workspace.ts';
import type { EmulatorState } from '../state/emulator-state.ts';
import { emulatorControlRoutes, type FaultContext, injectFaults } from './faults.ts';

/** Far more than any body of the API has. */
const MAX_JSON_BYTES = 1024 ** 2;
const NOT_JSON = 'The body must be JSON, sent with Content-Type: application/json';

/** The API as a function of request and state. It needs no socket: `createApp(state).request(…)` responds. */
export function createApp(state: EmulatorState, log: (line: string) => void, faults?: FaultContext): ApiApp {
  const app = createRouter();
  if (faults) app.use('/v1/*', injectFaults(faults, log));
  app.use('/v1/*', authenticate(state), requireJson);
  app.use('/__emulator/*', authenticate(state), requireJson);
  if (faults) app.route('/__emulator', emulatorControlRoutes(faults));
  app.route('/v1/account', accountRoutes());
  app.route('/v1/network', networkRoutes());
  app.route('/v1/browser', sessionRoutes(state));
  app.route('/v1/browser', poolRoutes());
  app.route('/v1/browser', leaseRoutes(state));
  app.route('/v1/browser', profileRoutes());
  app.route('/v1/browser', extensionRoutes());
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  // A description holds nothing of a workspace: it is served without a key.
  // 3.1, because 3.0 has no way to say that a field may hold anything, null included.
  app.doc31('/doc', {
    openapi: '3.1.0',
    info: {
      title: 'Browser Session Service (poolwright emulator)',
      version: '1.0.0',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
  });
  app.notFound((c) => c.json({ error: 'Not found' }, 404));
  app.onError(errorHandler(log));
  return app;
}

function authenticate(state: EmulatorState): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const [, key] = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '') ?? [];
    if (key === undefined) throw new ApiError(401, 'Unauthorized: Missing or invalid Authorization header');
    const workspace = state.workspaceOf(key);
    if (!workspace) throw new ApiError(401, 'Unauthorized: Invalid token');
    c.set('workspace', workspace);
    await next();
  };
}

/** Otherwise a body of another type would count as empty, and its content would be ignored. */
const requireJson: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (isUpload(c.req.method, c.req.path)) return await next();
  const type = c.req.header('Content-Type');
  const hasBody = c.req.header('Transfer-Encoding') !== undefined || Number(c.req.header('Content-Length') ?? 0) > 0;
  if ((type !== undefined || hasBody) && !/^application\/([\w.+-]+\+)?json\b/i.test(type ?? '')) {
    throw new ApiError(400, NOT_JSON);
  }
  return await limitJson(c, next);
};

const limitJson = limitBody(MAX_JSON_BYTES, `The body is larger than ${MAX_JSON_BYTES} bytes`);

function errorHandler(log: (line: string) => void): ErrorHandler<ApiEnv> {
  return (error: Error, c: Context) => {
    if (error instanceof ApiError) {
      if (error.status === 503) c.header('Retry-After', '2');
      return c.json({ error: error.message, code: error.code }, error.status);
    }
    // The router is stricter than `requireJson` about what comes after the type, and has a status that the document has
    // not.
    if (error instanceof HTTPException && error.status === 415) return c.json({ error: NOT_JSON }, 400);
    if (error instanceof HTTPException) return c.json({ error: error.message }, error.status);
    log(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    return c.json({ error: 'Internal error' }, 500);
  };
}
