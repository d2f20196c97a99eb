import type { BrowserService } from '../../lease/browser-service.ts';
import { parseNote } from '../../lease/note.ts';
import { runningSessions } from '../../service/running-sessions.ts';
import type { Log } from '../process/log.ts';
import type { Ledger } from './ledger.ts';

/** Where lost creates are looked for. */
export interface LostCreates {
  client: BrowserService;
  ledger: Ledger;
  log: Log;
  /** Requests that may have made one session more than the one that was had. */
  doubtful: ReadonlySet<string>;
  signal: AbortSignal;
}

/**
 * Creates whose answer was lost may have left a session: it is found by the request in its note, and stopped. What the
 * list does not show is not running, and leaves the ledger. For the end of a run: what it had has ended by then.
 */
export async function stopLostCreates({ client, ledger, log, doubtful, signal }: LostCreates): Promise<void> {
  const lost = new Set([...ledger.unanswered, ...doubtful]);
  if (lost.size === 0) return;
  const unanswered = new Set(ledger.unanswered);
  try {
    for await (const { sessionId, note } of runningSessions(client, { signal })) {
      const request = parseNote(note)?.request;
      if (request === undefined || !lost.has(request)) continue;
      try {
        await client.stopSession(sessionId, { signal });
        log.info(`session ${sessionId} of an unanswered create stopped`);
      } catch (error) {
        unanswered.delete(request);
        log.error(`session ${sessionId} of an unanswered create may still be running`, error);
      }
    }
    for (const request of unanswered) ledger.settled(request);
  } catch (error) {
    log.error('could not look for sessions whose create was not answered', error);
  }
}
