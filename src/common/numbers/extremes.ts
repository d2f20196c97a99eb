/**
 * `Math.max` and `Math.min` of as many values as there are: a call with some 120,000 arguments overflows the stack.
 */

/** @param least a lower bound of all values; the result for no values */
export function largest(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let result = least;
  for (const value of values) if (value > result) result = value;
  return result;
}

/** @param most an upper bound of all values; the result for no values */
export function smallest(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let result = most;
  for (const value of values) if (value < result) result = value;
  return result;
}

/** Null: none is known. */
export function smallestKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : smallest(known);
}
