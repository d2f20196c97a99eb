import { ServiceError } from '../../errors.ts';
import { API } from '../endpoints.ts';
import { callApi } from '../http/api-call.ts';
import type { CallOptions } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import type { Session } from '../schemas/index.ts';
import { iteratePages, RUNNING_STATUSES } from './list-sessions.ts';

/** Finds the session of a create whose response was lost, by its note. */

/** The session to find. */
export interface Search {
  /** Unique, as the caller promised. */
  note: string;
  /** `performance.now()` of the first create. */
  startedAt: number;
  /** A session that is known already: finds only others, and stops them. */
  keep?: string;
}

/** A session found starting is asked for this often, in ms … */
const POLL_MS = 1_000;
/** … and this many times: the service's own startup deadline is 3 minutes at most (section 8). */
const POLLS = 190;
/** The clocks of the service's nodes may differ by this much, in ms. */
const CLOCK_TOLERANCE_MS = 10_000;

/**
 * The session with this note, once it is active; null when there is none, or it ended. Where more than one create had
 * its effect, one is kept and the others are stopped.
 */
export async function findCreated(core: ServiceCore, search: Search, { signal }: CallOptions): Promise<Session | null> {
  // The create's timeout does not suit the look-up. A caller that already has a session must not wait long for others.
  const options: CallOptions = { signal, retry: search.keep === undefined ? 'policy' : 'none' };
  const candidates = await listByNote(core, search, options);
  let kept: Session | null = null;
  for (const candidate of candidates) {
    if (candidate.sessionId === search.keep) continue;
    if (kept || search.keep !== undefined)
      await callApi(core, API.stopSession, { query: { sessionId: candidate.sessionId } }, options);
    else kept = await untilActive(core, candidate, options);
  }
  return kept;
}

async function listByNote(core: ServiceCore, { note, startedAt }: Search, options: CallOptions): Promise<Session[]> {
  const found = new Map<string, Session>();
  for (const status of RUNNING_STATUSES) {
    for await (const { sessions, serverTime } of iteratePages(core, { status }, options)) {
      // A session older than the create is not ours, whatever its note: by the service's clock.
      const elapsed = performance.now() - startedAt + CLOCK_TOLERANCE_MS;
      const oldest = serverTime === null ? Number.NEGATIVE_INFINITY : serverTime - elapsed;
      for (const each of sessions) {
        const tooOld = Date.parse(each.createdAt ?? '') < oldest;
        if (each.note === note && !tooOld) found.set(each.sessionId, each);
      }
    }
  }
  return [...found.values()];
}

/** Null when it ended instead; one that never becomes active is stopped. */
async function untilActive(core: ServiceCore, candidate: Session, options: CallOptions): Promise<Session | null> {
  let session = candidate;
  for (let poll = 0; poll < POLLS; poll += 1) {
    if (session.status === 'active' && session.cdpUrl) return session;
    if (session.status === 'completed' || session.status === 'error') return null;
    if (poll > 0 || session.status !== 'active') await core.sleep(POLL_MS, options, 'GET /v1/browser/session');
    try {
      session = await callApi(core, API.getSession, { query: { sessionId: session.sessionId } }, options);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SERVICE_NOT_FOUND') return null;
      throw error;
    }
  }
  await callApi(core, API.stopSession, { query: { sessionId: session.sessionId } }, options);
  return null;
}
