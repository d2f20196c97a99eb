import { parseNote } from '../lease/note.ts';
import type { ServiceClient } from '../service/index.ts';
import type { Ledger } from './ledger.ts';
import type { Log } from './log.ts';

/**
 * Creates whose answer was lost may have left a session: it is found by the request in its note, and stopped. What the
 * list does not show is not running, and leaves the ledger.
 */
export async function stopLostCreates(
  client: ServiceClient,
  ledger: Ledger,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const unanswered = new Set(ledger.unanswered);
  if (unanswered.size === 0) return;
  try {
    for (const status of ['starting', 'active'] as const) {
      for await (const { sessionId, note } of client.iterateSessions({ status, pageSize: 100 }, { signal })) {
        const request = parseNote(note)?.request;
        if (request === undefined || !unanswered.has(request)) continue;
        await client.stopSession(sessionId, { signal });
        log.info(`session ${sessionId} of an unanswered create stopped`);
      }
    }
    for (const request of unanswered) ledger.settled(request);
  } catch (error) {
    log.error('could not look for sessions whose create was not answered', error);
  }
}
