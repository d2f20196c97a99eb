import { sessionNote } from '../../lease/note.ts';
import type { LeasePlan } from '../../options/lease-plan.ts';
import type { WorkerSlot } from './held-browser.ts';

/** Whose browsers the broker holds. */
export interface RunIdentity {
  runId: string;
  shard: { current: number; total: number } | null;
  /** Names the suite in notes. */
  suite: string;
  /** Tells this broker's requests from those of every other one. */
  mark: string;
  /** The service's clock, in ms since the epoch: who reads a beat may have another one. Default: this machine's. */
  now?: () => number;
}

/** The note of a browser for this slot. */
export function noteFor(run: RunIdentity, slot: WorkerSlot, request: string, plan: LeasePlan): string {
  const { runId, shard, suite, now = Date.now } = run;
  const beat = new Date(now());
  const fields = { runId, shard, suite, project: slot.project, slot: slot.index, request, beat };
  return sessionNote(fields, plan.session.note);
}
