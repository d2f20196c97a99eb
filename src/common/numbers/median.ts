/** The middle one of sorted values, or the mean of the two in the middle; 0 for no values. */
export function median(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  const [low = 0, high = low] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
