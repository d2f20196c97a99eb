import type { LedgerContent } from '../../../../src/broker/recovery/ledger-file.ts';
import { parseNote } from '../../../../src/lease/note.ts';
import type { ScriptedSession } from './scripted-workspace.ts';

/** What a sweep may and must do, written down once more: by who is dead, and by what can be known of it where it looks. */

const SILENT_MS = 20 * 60_000;

/** A broker as it is. */
export interface Fate {
  run: { runId: string; mark: string };
  place: string | null;
  alive: boolean;
}

/** What a sweep looks at, and from where. */
export interface Eyes {
  place: string | null;
  /** The ledgers that it can read, by mark. */
  ledgers: ReadonlyMap<string, LedgerContent>;
  /** Whether it gets the list of sessions. */
  listed: boolean;
  sessions: readonly ScriptedSession[];
  time: number;
  runId: string | undefined;
  overRuns: readonly string[];
  /** The mark of the broker whose place the sweeping one has taken. */
  replaces: string | undefined;
}

/** `never`: nothing of it may be touched; `must`: everything that can be seen of it has to go. */
export function judge({ run, place, alive }: Fate, eyes: Eyes): 'never' | 'may' | 'must' {
  const ledger = eyes.ledgers.get(run.mark);
  if (run.runId === eyes.runId) return alive ? 'may' : 'must';
  if (ledger && run.mark === eyes.replaces) return 'must';
  // Its socket can be asked.
  if (ledger && place !== null && place === eyes.place) return alive ? 'never' : 'must';
  if (eyes.overRuns.includes(run.runId)) return 'must';
  const beats = notedSessions(run.mark, eyes.sessions).map(({ note }) => parseNote(note)?.beat.getTime() ?? 0);
  const lastSign = Math.max(...beats, ledger ? Date.parse(ledger.beatAt) : 0);
  if (!eyes.listed || eyes.time - lastSign <= SILENT_MS) return 'never';
  // Who has been silent for so long is dead to everybody who cannot ask.
  return alive ? 'may' : 'must';
}

/** Running sessions that are a broker's by their notes. */
export function notedSessions(mark: string, sessions: readonly ScriptedSession[]): ScriptedSession[] {
  return sessions.filter(({ running, note }) => running && parseNote(note)?.request.startsWith(`${mark}-`));
}

/** Running sessions that can be seen to be a broker's. */
export function seenSessions(mark: string, { ledgers, sessions }: Eyes): ScriptedSession[] {
  const entries = new Set(ledgers.get(mark)?.entries.map(({ sessionId }) => sessionId));
  return [
    ...notedSessions(mark, sessions),
    ...sessions.filter(({ running, sessionId }) => running && entries.has(sessionId)),
  ];
}
