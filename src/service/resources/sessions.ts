import * as z from 'zod';
import type { CallOptions } from '../http/client-options.ts';
import type { Call, ServiceCore } from '../http/core.ts';
import type { ApiResponse } from '../http/http.ts';
import { LIMITS } from '../limits.ts';
import {
  type ListSessionsRequest,
  listSessionsRequest,
  type Session,
  type SessionPage,
  session,
  sessionList,
  stopSessionResponse,
  type UpdateSessionRequest,
  updateSessionRequest,
} from '../schemas/index.ts';

/** Sessions but for their creation (sections 4.3 and 4.8 of the service document). */

const SESSION = '/v1/browser/session';
const SESSIONS = '/v1/browser/sessions';
/** Bound on one walk through the list. */
const MAX_PAGES = 1_000;

const byId = z.object({ sessionId: z.string().min(1) });

export async function getSession(core: ServiceCore, sessionId: string, options: CallOptions): Promise<Session> {
  const query = core.check(byId, { sessionId }, `GET ${SESSION}`);
  const call: Call<typeof session> = { method: 'GET', path: SESSION, query, schema: session, repeat: 'always' };
  return (await core.request({ ...call, subject: `session ${sessionId}` }, options)).data;
}

export async function updateSession(
  core: ServiceCore,
  sessionId: string,
  body: UpdateSessionRequest,
  options: CallOptions,
): Promise<Session> {
  const query = core.check(byId, { sessionId }, `PATCH ${SESSION}`);
  const json = core.check(updateSessionRequest, body, `PATCH ${SESSION}`);
  const call: Call<typeof session> = { method: 'PATCH', path: SESSION, query, json, schema: session, repeat: 'always' };
  return (await core.request({ ...call, subject: `session ${sessionId}` }, options)).data;
}

export async function stopSession(core: ServiceCore, sessionId: string, options: CallOptions): Promise<void> {
  const query = core.check(byId, { sessionId }, `DELETE ${SESSION}`);
  const call: Call<typeof stopSessionResponse> = {
    method: 'DELETE',
    path: SESSION,
    query,
    schema: stopSessionResponse,
    subject: `session ${sessionId}`,
    repeat: 'always',
  };
  const { status, data } = await core.request(call, options);
  if (data.success === false)
    throw core.badResponse(call, status, '`success` is false: the session may still be running');
}

/** One page of sessions, with its size. */
export async function listPage(
  core: ServiceCore,
  query: ListSessionsRequest,
  options: CallOptions,
): Promise<ApiResponse<SessionPage>> {
  const checked = core.check(listSessionsRequest, query, `GET ${SESSIONS}`);
  return await core.request(
    { method: 'GET', path: SESSIONS, query: checked, schema: sessionList, repeat: 'always' },
    options,
  );
}

/** The size that a page may report; the service document does not show it. */
const pageInfo = z.object({ pageSize: z.number().positive().optional().catch(undefined) });

/** What one page added to the pages before it. */
interface NewSessions {
  sessions: Session[];
  /** See {@link ApiResponse.serverTime}. */
  serverTime: number | null;
}

/**
 * Walks through the pages, each session once. Ends at an empty page, at one that brings nothing new, and at a short
 * one. The service's maximum page size is not in the document, so a page counts as short only against the size it
 * states itself, or against the page before it.
 */
export async function* iteratePages(
  core: ServiceCore,
  query: ListSessionsRequest,
  options: CallOptions,
): AsyncGenerator<NewSessions, void, undefined> {
  const seen = new Set<string>();
  const first = query.page ?? 1;
  const pageSize = query.pageSize ?? LIMITS.pageSize.max;
  let fullPage = 0;
  for (let page = first; page < first + MAX_PAGES; page += 1) {
    const { data, serverTime } = await listPage(core, { ...query, page, pageSize }, options);
    const sessions = data.sessions.filter(({ sessionId }) => !seen.has(sessionId));
    for (const each of sessions) seen.add(each.sessionId);
    yield { sessions, serverTime };
    fullPage = pageInfo.parse(data).pageSize ?? fullPage;
    if (sessions.length === 0 || data.sessions.length < fullPage) return;
    fullPage = Math.max(fullPage, data.sessions.length);
  }
}

/** The sessions of {@link iteratePages}, one by one. */
export async function* iterateSessions(
  core: ServiceCore,
  query: ListSessionsRequest,
  options: CallOptions,
): AsyncGenerator<Session, void, undefined> {
  for await (const { sessions } of iteratePages(core, query, options)) yield* sessions;
}
