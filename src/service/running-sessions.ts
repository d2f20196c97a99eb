import type { CallOptions } from './http/client-options.ts';
import type { ListSessionsRequest, Session } from './schemas/index.ts';

/** A client that lists sessions: a `ServiceClient`, or a scripted one of a test. */
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
