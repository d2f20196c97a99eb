import type { Samples } from '../measuring/samples.ts';
import { median, quartileRatio } from '../measuring/statistics.ts';
import { decimals, type Table } from '../report/table.ts';

/**
 * A row a step: the median of each side in ms, and how fast one side is beside another.
 * @param ratios pairs of sides: the one, and what it is beside
 */
export function stepsTable(
  steps: readonly string[],
  sides: readonly string[],
  samples: Samples,
  ratios: readonly (readonly [string, string])[],
): Table {
  return {
    head: ['step', ...sides, ...ratios.map(([side, beside]) => `${side} : ${beside}`)],
    rows: steps.map((step) => [
      step,
      ...sides.map((side) => decimals(median(samples.values(side, step)), 1)),
      ...ratios.map(([side, beside]) =>
        decimals(quartileRatio(samples.values(beside, step), samples.values(side, step)), 3),
      ),
    ]),
  };
}
