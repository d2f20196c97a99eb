/**
 * How properties are tried: the same cases every time, so that a red run is red again. `POOLWRIGHT_SEED` draws others;
 * fast-check prints the seed, and the smallest case it found, with a failure.
 *
 * `npm test` tries a part of the cases, `npm run test:long` (`POOLWRIGHT_RUNS=all`) tries all of them, and
 * `POOLWRIGHT_RUNS=1000` that many of each property.
 *
 * Compare with `node:assert` in a property: Playwright's `expect` makes a step of each call, which takes longer than what is tried.
 */

const { POOLWRIGHT_SEED = '20', POOLWRIGHT_RUNS } = process.env;
if (!/^-?\d+$/.test(POOLWRIGHT_SEED)) throw new Error(`POOLWRIGHT_SEED must be a whole number, not ${POOLWRIGHT_SEED}`);
if (!/^(all|[1-9]\d*)$/.test(POOLWRIGHT_RUNS ?? 'all')) {
  throw new Error(`POOLWRIGHT_RUNS must be "all" or a whole number, not ${POOLWRIGHT_RUNS}`);
}

/** Unless a property says how many, `npm test` tries at least so many cases. */
const FEWEST = 50;

/** For `fc.assert` and `fc.sample`. */
export interface PropertyRuns {
  seed: number;
  numRuns: number;
}

/**
 * @param all how many cases there are
 * @param few how many of them `npm test` tries; unless given a fifth
 */
export function propertyRuns(all: number, few = Math.min(all, Math.max(FEWEST, Math.ceil(all / 5)))): PropertyRuns {
  const given = POOLWRIGHT_RUNS === 'all' ? all : Number(POOLWRIGHT_RUNS ?? few);
  return { seed: Number(POOLWRIGHT_SEED), numRuns: given };
}

/** The cases of a long property in parts, each with cases of its own, so that workers share them. */
export function propertyParts(parts: number, all: number): { part: string; runs: PropertyRuns }[] {
  const { seed, numRuns } = propertyRuns(all);
  return Array.from({ length: parts }, (_, n) => ({
    part: `part ${n + 1} of ${parts}`,
    runs: { seed: seed + n * 1_000_003, numRuns: Math.ceil(numRuns / parts) },
  }));
}
