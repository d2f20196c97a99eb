import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ChaosKind } from './plan.ts';

/** The result of one random run. */
export interface ChaosResult {
  kind: ChaosKind;
  /** Number of the run in the set. */
  run: number;
  setSeed: number;
  /** The tested commit. */
  commit: string | null;
  ok: boolean;
  /** Start time, in ms since 1970. */
  at: number;
  ms: number;
  traits: string[];
  blow: string | null;
  /** Whether the target of the signal was still alive. */
  struck: boolean;
  /** When it was judged what is left; not in results from before 28 November 2026. */
  judged?: 'after the run' | 'after poolwright sweep';
  /** What was left at the end, and which foreign things changed. */
  left: string[];
  touched: string[];
  /** First line of the failure. */
  error: string | null;
  /** Returns the run's output. */
  output(): string;
}

/** Appends the result as a line of JSON to the file that CHAOS_RESULTS names. */
export function tally(result: ChaosResult): void {
  const file = process.env.CHAOS_RESULTS;
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
