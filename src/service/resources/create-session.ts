import * as z from 'zod';
import { PoolwrightError, ServiceError } from '../../errors.ts';
import { API } from '../endpoints.ts';
import { callApi, prepare } from '../http/api-call.ts';
import { type CallOptions, type CreateOptions, REQUEST_TIMEOUT } from '../http/client-options.ts';
import type { Call, FailureTally, ServiceCore } from '../http/core.ts';
import { withNote } from '../http/failures.ts';
import type { ApiResponse } from '../http/http.ts';
import { isAmbiguous } from '../http/retry-policy.ts';
import { type CreateSessionRequest, type Session, session } from '../schemas/index.ts';
import { iteratePages, RUNNING_STATUSES } from './list-sessions.ts';

/** Creating a session without ever leaving a second browser behind (sections 4.2 and 7 of the service document). */

/** Enough of a session to stop it, should the rest be unreadable. */
const created = z.looseObject({ sessionId: z.string().min(1) });
type CreateCall = Call<typeof created>;
type Created = ApiResponse<z.output<typeof created>>;

const HOW_TO_LOOK = 'look with listSessions or npx poolwright sessions list, and stop what is not wanted';

export async function createSession(
  core: ServiceCore,
  body: CreateSessionRequest,
  options: CreateOptions,
): Promise<Session> {
  const call: CreateCall = {
    ...prepare(core, API.createSession, { body }),
    schema: created,
    timeoutMs: options.timeout ?? Math.max(core.timeout, REQUEST_TIMEOUT.create),
  };
  const outcome = await createOrFind(core, call, body.note ?? '', options);
  return 'found' in outcome ? outcome.found : await readCreated(core, call, outcome, options);
}

/** The result: the response to a create, or the session of a create whose response was lost. */
type Outcome = Created | { found: Session };

async function createOrFind(
  core: ServiceCore,
  call: CreateCall,
  note: string,
  options: CreateOptions,
): Promise<Outcome> {
  const search: Search = { note, startedAt: performance.now() };
  const tally: FailureTally = new Map();
  /** Whether a request so far may have created an unknown session. */
  let doubtful = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await core.send(call, options, attempt);
      if (doubtful) await stopTwins(core, search, response.data.sessionId, options);
      return response;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      doubtful ||= raisesDoubt(error, options);
      if (doubtful) {
        const found = await resolveDoubt(core, error, tally, search, options);
        if (found) return { found };
      } else if (!(await core.waitToRepeat(error, tally, options))) throw error;
    }
  }
}

/**
 * Waits as before a retry, then looks for the session. Null: there is none, and it may be created again.
 * @throws ServiceError the failure of the create, with its known effect
 */
async function resolveDoubt(
  core: ServiceCore,
  failure: ServiceError,
  tally: FailureTally,
  search: Search,
  options: CallOptions,
): Promise<Session | null> {
  if (!canLook(core, search.note, options)) throw withNote(failure, mayRun(search.note));
  const again = await core.waitToRepeat(failure, tally, options);
  const found = await look(core, failure, search, options);
  if (!found && !again) throw withNote(failure, noneFound(search.note));
  return found;
}

function raisesDoubt(error: ServiceError, { onDoubt }: CreateOptions): boolean {
  if (!isAmbiguous(error)) return false;
  onDoubt?.();
  return true;
}

function canLook(core: ServiceCore, note: string, options: CallOptions): boolean {
  return note !== '' && core.retries(options);
}

/** Stops other sessions of a lost create. Ignores a failed lookup, because the session `keep` can be used anyway. */
async function stopTwins(core: ServiceCore, search: Search, keep: string, options: CallOptions): Promise<void> {
  try {
    await findCreated(core, { ...search, keep }, options);
  } catch (error) {
    if (!(error instanceof PoolwrightError)) throw error;
  }
}

/** @throws ServiceError the failure of the create, when looking fails too: then nothing may be created again. */
async function look(
  core: ServiceCore,
  failure: ServiceError,
  search: Search,
  options: CallOptions,
): Promise<Session | null> {
  try {
    return await findCreated(core, search, options);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw withNote(failure, `${mayRun(search.note)} Looking for it failed: ${error.message}`);
  }
}

function mayRun(note: string): string {
  if (note === '')
    return `A browser may be running all the same: ${HOW_TO_LOOK}. A create with a unique \`note\` is looked for and asked again.`;
  return `A browser with the note "${note}" may be running all the same: ${HOW_TO_LOOK}.`;
}

function noneFound(note: string): string {
  return `No session with the note "${note}" is listed, so none should be running.`;
}

/** @throws ServiceError `SERVICE_BAD_RESPONSE` when the response is not a session; see `onKnown` for its end. */
async function readCreated(
  core: ServiceCore,
  call: CreateCall,
  response: Created,
  { onKnown }: CreateOptions,
): Promise<Session> {
  onKnown?.(response.data.sessionId);
  try {
    return core.checkResponse(session, response, call);
  } catch (error) {
    const { sessionId } = response.data;
    if (!(error instanceof ServiceError) || onKnown) throw error;
    const stopped = await callApi(core, API.stopSession, { query: { sessionId } }, {}).then(
      () => `Session ${sessionId} was stopped.`,
      () => `Session ${sessionId} could not be stopped: it runs until its \`duration\` is over.`,
    );
    throw withNote(error, stopped);
  }
}

interface Search {
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
async function findCreated(core: ServiceCore, search: Search, { signal }: CallOptions): Promise<Session | null> {
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
