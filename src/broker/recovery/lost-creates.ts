import { runningSessions } from '../../service/running-sessions.ts';
import type { BrowserService } from '../browsers/browser-service.ts';
import { parseNote } from '../browsers/session-note.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';

/** What {@link stopLostCreates} needs. */
export interface LostCreates {
  client: BrowserService;
  ledger: Ledger;
  log: Log;
  /** Requests that may have created one more session than the acquired one. */
  doubtful: ReadonlySet<string>;
  signal: AbortSignal;
}

/**
 * Finds the sessions of creates with a lost response by the request in their notes, and stops them. A session that is
 * not in the list is not running; it leaves the ledger. Call this at the end of a run, when its acquired browsers have
 * ended.
 */
export async function stopLostCreates({ client, ledger, log, doubtful, signal }: LostCreates): Promise<void> {
  const lost = new Set([...ledger.unconfirmed, ...doubtful]);
  if (lost.size === 0) return;
  const unconfirmed = new Set(ledger.unconfirmed);
  try {
    for await (const { sessionId, note } of runningSessions(client, { signal })) {
      const request = parseNote(note)?.request;
      if (request === undefined || !lost.has(request)) continue;
      try {
        await client.stopSession(sessionId, { signal });
        log.info(`session ${sessionId} of an unconfirmed create stopped`);
      } catch (error) {
        unconfirmed.delete(request);
        log.error(`session ${sessionId} of an unconfirmed create may still be running`, error);
      }
    }
    for (const request of unconfirmed) ledger.settled(request);
  } catch (error) {
    log.error('could not look for sessions whose create got no response', error);
  }
}
