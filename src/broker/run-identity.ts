import { sessionNote } from '../lease/note.ts';
import type { LeasePlan } from '../options/lease-plan.ts';
import type { Place } from './held-browser.ts';

/** Whose browsers the broker holds. */
export interface RunIdentity {
  runId: string;
  shard: { current: number; total: number } | null;
  /** Names the suite in notes. */
  suite: string;
  /** Tells this broker's requests from those of every other one. */
  mark: string;
}

/** The note of a browser that fills this place. */
export function noteFor(run: RunIdentity, place: Place, request: string, plan: LeasePlan): string {
  const { runId, shard, suite } = run;
  const fields = { runId, shard, suite, project: place.project, slot: place.slot, request, beat: new Date() };
  return sessionNote(fields, plan.session.note);
}
