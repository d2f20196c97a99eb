import { median as medianOfSorted } from '../../common/numbers/median.ts';

/** Statistics of samples. */

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The smallest sample that is at least as large as this share of all samples; 0 without samples. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  return medianOfSorted(values.toSorted((a, b) => a - b));
}

/**
 * A pseudo-random number from 0 to below 1 that depends only on these integers, not on the order of calls. Two
 * simulations that differ in one thing therefore use the same times for everything else.
 */
function chance(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number + 0x7f4a7c15), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return (hash >>> 0) / 2 ** 32;
}

/** One of the samples, chosen by {@link chance}; 0 without samples. */
export function drawn(samples: readonly number[], ...numbers: readonly number[]): number {
  return samples[Math.floor(chance(...numbers) * samples.length)] ?? 0;
}
