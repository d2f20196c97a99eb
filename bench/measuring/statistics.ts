/** The value below which this share of the values lies, between neighbours in proportion; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Median and quartiles. */
export interface Spread {
  median: number;
  lower: number;
  upper: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), lower: quantile(values, 0.25), upper: quantile(values, 0.75) };
}

/** Round by round, `values` over `base`: what the machine did in that round, it did to both. */
export function pairedRatios(values: readonly number[], base: readonly number[]): number[] {
  return values.flatMap((value, round) => {
    const other = base[round];
    return other === undefined ? [] : [value / other];
  });
}

/**
 * `time` over `base` at their lower quartiles. For steps of milliseconds: what else the machine does only ever adds
 * time, in bursts that hit the sides of a round unequally, and the faster quarter of the rounds is nearly free of it.
 */
export function quartileRatio(time: readonly number[], base: readonly number[]): number {
  return quantile(time, 0.25) / quantile(base, 0.25);
}
