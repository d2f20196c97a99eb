import { parseNote } from '../../../../src/broker/browsers/session-note.ts';
import type { LedgerContent } from '../../../../src/broker/ledger/ledger-file.ts';
import type { ScriptedSession } from '../../../support/unit/broker/scripted-workspace.ts';

/**
 * A second, independent statement of what a sweep may and must do: by who is dead, and by what the sweep can know about
 * it from its place.
 */

const SILENT_MS = 20 * 60_000;
/** How long a provider's label, which is not renewed, is a sign of life. */
const LABEL_MS = 24 * 3_600_000 + SILENT_MS;

/** How long an `acquire` of a provider may take, with a margin. */
const ACQUIRE_MS = 210_000;

/** The real state of a broker. */
export interface Fate {
  run: { runId: string; mark: string };
  place: string | null;
  alive: boolean;
}

/** What a sweep sees, and from where. */
export interface Eyes {
  place: string | null;
  /** The ledgers that it can read, by mark. */
  ledgers: ReadonlyMap<string, LedgerContent>;
  /** Whether it gets the list of sessions, and whether there is one. */
  listed: boolean;
  lists: boolean;
  sessions: readonly ScriptedSession[];
  time: number;
  /** Whether notes are renewed while their sessions run. */
  renewsNotes: boolean;
  runId: string | undefined;
  overRuns: readonly string[];
  /** The mark of the broker that the sweeping broker replaces. */
  replaces: string | undefined;
}

/** `never`: the sweep may not touch anything of it; `must`: everything visible of it has to end. */
export function judge({ run, place, alive }: Fate, eyes: Eyes): 'never' | 'may' | 'must' {
  const ledger = eyes.ledgers.get(run.mark);
  if (run.runId === eyes.runId) return alive ? 'may' : 'must';
  if (ledger && run.mark === eyes.replaces) return 'must';
  // Its socket can be checked.
  if (ledger && place !== null && place === eyes.place) return alive ? 'never' : 'must';
  if (eyes.overRuns.includes(run.runId)) return 'must';
  const beats = notedSessions(run.mark, eyes).map(({ note }) => parseNote(note)?.beat.getTime() ?? 0);
  const aliveUntil = eyes.renewsNotes
    ? Math.max(...beats, ledger ? Date.parse(ledger.beatAt) : 0) + SILENT_MS
    : ledger
      ? Date.parse(ledger.beatAt) + SILENT_MS
      : Math.max(...beats) + LABEL_MS;
  if (!eyes.listed || eyes.time <= aliveUntil) return 'never';
  // After this silence, it is dead for every sweep that cannot check its socket.
  return alive ? 'may' : 'must';
}

/** Running sessions that belong to a broker by their notes. */
export function notedSessions(mark: string, { lists, sessions }: Pick<Eyes, 'lists' | 'sessions'>): ScriptedSession[] {
  if (!lists) return [];
  return sessions.filter(({ running, note }) => running && parseNote(note)?.request.startsWith(`${mark}-`));
}

/** Running sessions that visibly belong to a broker. */
export function seenSessions(mark: string, eyes: Eyes): ScriptedSession[] {
  const { ledgers, sessions } = eyes;
  const entries = new Set(ledgers.get(mark)?.entries.map(({ sessionId }) => sessionId));
  return [
    ...notedSessions(mark, eyes),
    ...sessions.filter(({ running, sessionId }) => running && entries.has(sessionId)),
  ];
}

/** Requests of a ledger that may have made a browser which no list shows, and none is certain to show. */
export function unknownRequests({ beatAt, entries }: LedgerContent, { lists, renewsNotes, time }: Eyes): string[] {
  // The service lists a session as soon as it is created; a pool's lease ends by itself.
  if (renewsNotes || (lists && time >= Date.parse(beatAt) + ACQUIRE_MS)) return [];
  return entries.flatMap(({ request, sessionId }) => (sessionId === null ? request : []));
}
