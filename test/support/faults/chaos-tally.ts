import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** What comes of one random run. */
export interface ChaosResult {
  kind: 'stub' | 'chromium';
  /** Which run of the set. */
  run: number;
  setSeed: number;
  /** What was tested. */
  commit: string | null;
  ok: boolean;
  /** When it began, in ms since 1970. */
  at: number;
  ms: number;
  traits: string[];
  blow: string | null;
  /** Whether whom it was for still lived. */
  struck: boolean;
  /** What was left at the end, and what of others was not as before. */
  left: string[];
  touched: string[];
  /** First line of what made it red. */
  error: string | null;
  /** What the run has printed. */
  output(): string;
}

/** Appends it, as a line of JSON, to the file that CHAOS_RESULTS names. */
export function tally(result: ChaosResult): void {
  const file = process.env.CHAOS_RESULTS;
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
