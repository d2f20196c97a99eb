import type { Parameters } from 'fast-check';

const { POOLWRIGHT_SEED = '20' } = process.env;
if (!/^-?\d+$/.test(POOLWRIGHT_SEED)) throw new Error(`POOLWRIGHT_SEED must be a whole number, not ${POOLWRIGHT_SEED}`);

/**
 * How properties are tried: the same cases every time, so that a red run is red again. `POOLWRIGHT_SEED` draws others;
 * fast-check prints the seed, and the smallest case it found, with a failure.
 */
export function propertyRuns(numRuns: number): Parameters<unknown> {
  return { seed: Number(POOLWRIGHT_SEED), numRuns };
}

/** The runs of a long property in parts, each with cases of its own, so that workers share them. */
export function propertyParts(parts: number, numRuns: number): { part: string; runs: Parameters<unknown> }[] {
  return Array.from({ length: parts }, (_, n) => ({
    part: `part ${n + 1} of ${parts}`,
    runs: { seed: Number(POOLWRIGHT_SEED) + n * 1_000_003, numRuns: numRuns / parts },
  }));
}
