import type { LeasePlan } from '../../options/schema/plan.ts';
import type { WorkerSlot } from './held-browser.ts';
import { sessionNote } from './session-note.ts';

/** The run whose browsers the broker holds. */
export interface RunIdentity {
  runId: string;
  shard: { current: number; total: number } | null;
  /** Names the suite in notes. */
  suite: string;
  /** Distinguishes this broker's requests from those of every other broker. */
  mark: string;
  /**
   * The service's clock, in ms since the epoch: the reader of a beat may have a different clock. Default: this
   * machine's.
   */
  now?: () => number;
}

/** Returns the note of a browser for this slot. */
export function noteFor(run: RunIdentity, slot: WorkerSlot, request: string, plan: LeasePlan): string {
  const { runId, shard, suite, now = Date.now } = run;
  const beat = new Date(now());
  const fields = { runId, shard, suite, project: slot.project, slot: slot.index, request, beat };
  return sessionNote(fields, plan.session.note);
}
