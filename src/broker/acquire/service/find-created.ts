import type { Clock } from '../../../common/clock.ts';
import { pause } from '../../../common/pause.ts';
import { runningSessions } from '../../../service/running-sessions.ts';
import type { Session } from '../../../service/schemas/index.ts';
import type { BrowserService } from '../../browsers/browser-service.ts';

/** Polling interval for a found session that is still starting, in ms … */
const POLL_MS = 1_000;
/**
 * … and the number of polls: the service's own startup deadline is at most 3 minutes (section 8 of the service
 * document).
 */
const POLLS = 190;

/** Which session to find. */
export interface Search {
  client: BrowserService;
  /** Unique to the create whose response was lost. */
  note: string;
  signal: AbortSignal;
  clock: Clock;
}

/**
 * Returns the session of a create with a lost response, once it is active; null if there is none. Stops all duplicates.
 */
export async function findCreated({ client, note, signal, clock }: Search): Promise<Session | null> {
  for (let poll = 1; ; poll += 1) {
    const [kept, ...twins] = await withNote(client, note, signal);
    for (const { sessionId } of twins) await client.stopSession(sessionId, { signal });
    if (!kept) return null;
    const session = kept.cdpUrl ? kept : await client.getSession(kept.sessionId, { signal });
    if (session.status === 'active' && session.cdpUrl) return session;
    if (poll >= POLLS) await client.stopSession(kept.sessionId, { signal });
    else await pause(POLL_MS, signal, clock);
  }
}

/** Stops the sessions that lost creates left, except the one to keep. */
export async function stopTwins({ client, note, signal }: Omit<Search, 'clock'>, keep: string): Promise<void> {
  for (const { sessionId } of await withNote(client, note, signal)) {
    if (sessionId !== keep) await client.stopSession(sessionId, { signal });
  }
}

async function withNote(client: BrowserService, note: string, signal: AbortSignal): Promise<Session[]> {
  const found: Session[] = [];
  for await (const session of runningSessions(client, { signal })) if (session.note === note) found.push(session);
  return found;
}
