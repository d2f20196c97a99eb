import { runningSessions } from '../service/running-sessions.ts';
import type { BrowserService } from './browser-service.ts';
import { parseNote } from './note.ts';

/** What the session list says. */
export interface Running {
  /** Sessions that run, starting ones included. */
  ids: ReadonlySet<string>;
  /** Whose they are: `6 of this run`, `3 of run gh-12.1`, `1 without a note of poolwright`. */
  holders: string;
}

/** Everything that runs in the workspace; null when the list cannot be read this time. */
export async function listRunning(
  client: Pick<BrowserService, 'iterateSessions'>,
  runId: string,
  signal: AbortSignal,
): Promise<Running | null> {
  try {
    const holderOf = new Map<string, string>();
    for await (const { sessionId, note } of runningSessions(client, { signal })) {
      holderOf.set(sessionId, whose(note, runId));
    }
    const counts = new Map<string, number>();
    for (const holder of holderOf.values()) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    const list = [...counts].sort(([, a], [, b]) => b - a).map(([holder, count]) => `${count} ${holder}`);
    return { ids: new Set(holderOf.keys()), holders: list.join(', ') || 'none' };
  } catch {
    return null;
  }
}

function whose(note: string | null | undefined, runId: string): string {
  const parsed = parseNote(note);
  if (!parsed) return 'without a note of poolwright';
  const run = parsed.runId === runId ? 'this run' : `run ${parsed.runId}`;
  return `of ${run}${parsed.shard === '1/1' ? '' : ` (shard ${parsed.shard})`}`;
}
