import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '../api-error.ts';
import { type BrowserFault, faultRules } from '../fault-rule.ts';
import { createRouter, jsonBody, security } from '../http.ts';
import type { FaultContext } from './fault-middleware.ts';

/** What a test can do to a session's browser here and now. */
const ACTIONS: Record<string, BrowserFault | 'resume'> = {
  crash: 'crashBrowser',
  stall: 'stallBrowser',
  resume: 'resume',
  cut: 'cutLink',
  end: 'endSession',
  'refuse-contexts': 'refuseContexts',
  'refuse-pages': 'refusePages',
  'foreign-target': 'foreignTarget',
};

// Not the service's API but a test's hand on the emulator: none of it is in `/doc`.
const hidden = { hide: true, security, responses: { 200: { description: 'Done' } } } as const;

const listFaults = createRoute({ method: 'get', path: '/faults', ...hidden });
const clearFaults = createRoute({ method: 'delete', path: '/faults', ...hidden });
const addFaults = createRoute({
  method: 'post',
  path: '/faults',
  request: { body: jsonBody(faultRules) },
  ...hidden,
});
const actOnSession = createRoute({
  method: 'post',
  path: '/sessions/{sessionId}/{action}',
  request: { params: z.object({ sessionId: z.string(), action: z.string() }) },
  ...hidden,
});

/** `/__emulator`: the list of faults, and faults at once. */
export function emulatorControlRoutes({ faults, applyFault }: FaultContext) {
  return createRouter()
    .openapi(listFaults, (c) => c.json({ faults: faults.list() }))
    .openapi(clearFaults, (c) => {
      faults.clear();
      return c.json({ faults: [] });
    })
    .openapi(addFaults, (c) => {
      faults.add(c.req.valid('json').faults);
      return c.json({ faults: faults.list() });
    })
    .openapi(actOnSession, (c) => {
      const { sessionId, action } = c.req.valid('param');
      const fault = ACTIONS[action];
      if (!fault) throw new ApiError(400, `${action}: unknown action; known are ${Object.keys(ACTIONS).join(', ')}`);
      const session = c.var.workspace.session(sessionId);
      if (!session.browser) throw new ApiError(409, `The session has no browser: it is ${session.status}`);
      if (fault === 'resume') session.browser.resume();
      else applyFault(session, fault);
      return c.json({ success: true });
    });
}
