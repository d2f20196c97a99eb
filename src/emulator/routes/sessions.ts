import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../service/limits.ts';
import {
  createSessionRequest,
  sessionList,
  session as sessionSchema,
  sessionStatuses,
  stopSessionResponse,
  updateSessionRequest,
} from '../../service/schemas/session.ts';
import { ApiError } from '../api-error.ts';
import { createRouter, jsonBody, jsonResponse, route } from '../http.ts';
import type { BrowserSession } from '../state/browser-session.ts';
import type { EmulatorState } from '../state/emulator-state.ts';

const bySessionId = z.object({ sessionId: z.string({ error: 'is required' }).min(1, 'is required') });

const listQuery = z.object({
  status: z.enum(sessionStatuses).optional(),
  page: z.coerce.number().int().min(1).default(1),
  pageSize: z.coerce.number().int().min(1).default(LIMITS.pageSize.default),
});

const createSession = route('post', '/session', {
  operationId: 'createSession',
  summary: 'Create a session',
  request: { body: jsonBody(createSessionRequest) },
  responses: { 200: jsonResponse(sessionSchema, 'The session, CDP-ready') },
  errors: [400, 402, 403, 404, 429, 500, 503, 504],
});

const getSession = route('get', '/session', {
  operationId: 'getSession',
  summary: 'Get a session',
  request: { query: bySessionId },
  responses: { 200: jsonResponse(sessionSchema, 'The session') },
  errors: [400, 404],
});

const updateSession = route('patch', '/session', {
  operationId: 'updateSession',
  summary: 'Update a session',
  // Unknown body fields are ignored here, unlike on create.
  request: { query: bySessionId, body: jsonBody(z.object(updateSessionRequest.shape)) },
  responses: { 200: jsonResponse(sessionSchema, 'The session') },
  errors: [400, 404],
});

const stopSession = route('delete', '/session', {
  operationId: 'stopSession',
  summary: 'Stop a session',
  request: { query: bySessionId },
  responses: { 200: jsonResponse(stopSessionResponse, 'Stopped') },
  errors: [400, 404],
});

const listSessions = route('get', '/sessions', {
  operationId: 'listSessions',
  summary: 'List sessions, newest first',
  request: { query: listQuery },
  responses: { 200: jsonResponse(sessionList, 'One page of sessions') },
  errors: [400],
});

/** `/v1/browser/session` and `/v1/browser/sessions` (sections 4.2, 4.3 and 4.8 of the service document). */
export function sessionRoutes(state: EmulatorState) {
  return createRouter()
    .openapi(createSession, async (c) => {
      const session = c.var.workspace.createSession(c.req.valid('json'));
      // A client that disconnects changes nothing, as with the real service: the session continues.
      await session.start();
      return c.json(sessionJson(session, state, c.req.header('Host')), 200);
    })
    .openapi(getSession, (c) => {
      const session = c.var.workspace.session(c.req.valid('query').sessionId);
      return c.json(sessionJsonWithBandwidth(session, state, c.req.header('Host')), 200);
    })
    .openapi(updateSession, (c) => {
      const session = c.var.workspace.session(c.req.valid('query').sessionId);
      if (!session.isLive) throw new ApiError(400, 'Cannot update a terminal session');
      const { note } = c.req.valid('json');
      if (note !== undefined) session.note = note;
      return c.json(sessionJsonWithBandwidth(session, state, c.req.header('Host')), 200);
    })
    .openapi(stopSession, async (c) => {
      await c.var.workspace.session(c.req.valid('query').sessionId).stop();
      return c.json({ success: true }, 200);
    })
    .openapi(listSessions, (c) => {
      const { status, page, pageSize: asked } = c.req.valid('query');
      const pageSize = Math.min(asked, LIMITS.pageSize.max);
      const matching = c.var.workspace.sessions.filter((session) => !status || session.status === status);
      const sessions = matching.slice((page - 1) * pageSize, page * pageSize);
      const body = {
        sessions: sessions.map((session) => sessionJsonWithBandwidth(session, state, c.req.header('Host'))),
      };
      return c.json({ ...body, page, pageSize, total: matching.length }, 200);
    });
}

/**
 * A session as create and acquire return it (section 2.1).
 * @param host `Host` of the request
 */
export function sessionJson(session: BrowserSession, state: EmulatorState, host: string | undefined) {
  return {
    sessionId: session.sessionId,
    status: session.status,
    servedBy: session.servedBy,
    createdAt: session.createdAt,
    stoppedAt: session.stoppedAt,
    cdpUrl: state.cdpUrl(session, host),
    note: session.note,
  };
}

function sessionJsonWithBandwidth(session: BrowserSession, state: EmulatorState, host: string | undefined) {
  return { ...sessionJson(session, state, host), bandwidthBytes: session.bandwidthBytes };
}
