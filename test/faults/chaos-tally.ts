import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** What came of one random run; a line of JSON each, in the file that CHAOS_RESULTS names. */
export interface ChaosResult {
  kind: 'stub' | 'chromium';
  /** Which run of the set. */
  run: number;
  setSeed: number;
  ok: boolean;
  ms: number;
  traits: string[];
  /** Whether what was to be struck was there to be struck. */
  struck: boolean;
  /** What was left at the end, and what of others was not as before. */
  left: string[];
  touched: string[];
  /** First line of what made it red. */
  error: string | null;
}

export function tally(result: ChaosResult): void {
  const file = process.env.CHAOS_RESULTS;
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
