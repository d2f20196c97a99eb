/**
 * How properties are tested: with the same cases every time, so that a failure is reproducible. `POOLWRIGHT_SEED`
 * selects others; fast-check prints the seed, and the smallest failing case, with a failure.
 *
 * `npm test` runs some of the cases, `node scripts/long.mjs` (`POOLWRIGHT_RUNS=all`) runs all of them, and
 * `POOLWRIGHT_RUNS=1000` that many per property.
 *
 * Compare with `node:assert` in a property: Playwright's `expect` records each call as a step, which takes longer than
 * the tested code.
 */

const { POOLWRIGHT_SEED = '20', POOLWRIGHT_RUNS } = process.env;
if (!/^-?\d+$/.test(POOLWRIGHT_SEED)) throw new Error(`POOLWRIGHT_SEED must be a whole number, not ${POOLWRIGHT_SEED}`);
if (!/^(all|[1-9]\d*)$/.test(POOLWRIGHT_RUNS ?? 'all')) {
  throw new Error(`POOLWRIGHT_RUNS must be "all" or a whole number, not ${POOLWRIGHT_RUNS}`);
}

/** Minimum number of cases in `npm test`, unless a property sets it. */
const FEWEST = 50;

/** For `fc.assert` and `fc.sample`. */
export interface PropertyRuns {
  seed: number;
  numRuns: number;
}

/**
 * @param all number of all cases
 * @param few number of cases in `npm test`; default: a fifth
 */
export function propertyRuns(all: number, few = Math.min(all, Math.max(FEWEST, Math.ceil(all / 5)))): PropertyRuns {
  const given = POOLWRIGHT_RUNS === 'all' ? all : Number(POOLWRIGHT_RUNS ?? few);
  return { seed: Number(POOLWRIGHT_SEED), numRuns: given };
}

/** Returns `full` where all cases run (`node scripts/long.mjs`), else `brief`, which proves the same for less time. */
export function fullLength<T>(full: T, brief: T): T {
  return POOLWRIGHT_RUNS === 'all' ? full : brief;
}

/** Details of a row of a table: whether it runs only where all cases run, because a row beside it finds the same. */
export const slowIf = (isSlow: boolean) => ({ tag: isSlow ? ['@slow'] : [] });

/** Splits the cases of a long property into parts, each with different cases, so that workers share them. */
export function propertyParts(parts: number, all: number): { part: string; runs: PropertyRuns }[] {
  const { seed, numRuns } = propertyRuns(all);
  return Array.from({ length: parts }, (_, n) => ({
    part: `part ${n + 1} of ${parts}`,
    runs: { seed: seed + n * 1_000_003, numRuns: Math.ceil(numRuns / parts) },
  }));
}
