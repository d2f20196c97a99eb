/**
 * `Math.max` and `Math.min` of as many values as there are: a call with some 120,000 arguments overflows the stack.
 */

/** @param least what none of the values is below; what comes of no values */
export function largest(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let result = least;
  for (const value of values) if (value > result) result = value;
  return result;
}

/** @param most what none of the values is above; what comes of no values */
export function smallest(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let result = most;
  for (const value of values) if (value < result) result = value;
  return result;
}
