import * as z from 'zod';
import { API } from '../endpoints.ts';
import { prepare } from '../http/api-call.ts';
import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import { LIMITS } from '../limits.ts';
import type { ListSessionsRequest, Session } from '../schemas/index.ts';

/** Bound on one walk through the list. */
const MAX_PAGES = 1_000;

/** The size that a page may report; the service document does not show it. */
const pageInfo = z.object({ pageSize: z.number().positive().optional().catch(undefined) });

/** The new sessions of one page. */
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
    const { data, serverTime } = await core.request(
      prepare(core, API.listSessions, { query: { ...query, page, pageSize } }),
      options,
    );
    const sessions = data.sessions.filter(({ sessionId }) => !seen.has(sessionId));
    for (const each of sessions) seen.add(each.sessionId);
    yield { sessions, serverTime };
    fullPage = pageInfo.parse(data).pageSize ?? fullPage;
    if (sessions.length === 0 || data.sessions.length < fullPage) return;
    fullPage = Math.max(fullPage, data.sessions.length);
  }
}

/** What lists sessions: a `ServiceClient`, or a scripted one of a test. */
interface SessionLister {
  iterateSessions(query: ListSessionsRequest, options: CallOptions): AsyncIterable<Session>;
}

/**
 * The states of a session that runs; to be listed in this order, so that one which becomes active in between is not
 * missed.
 */
export const RUNNING_STATUSES = ['starting', 'active'] as const;

/** Every session that runs in the workspace, starting ones included, each once. */
export async function* runningSessions(client: SessionLister, options: CallOptions = {}): AsyncGenerator<Session> {
  const seen = new Set<string>();
  for (const status of RUNNING_STATUSES) {
    for await (const session of client.iterateSessions({ status }, options)) {
      if (!seen.has(session.sessionId)) yield session;
      seen.add(session.sessionId);
    }
  }
}
