import type { Samples } from '../measuring/samples.ts';
import { median, pairedRatios, spreadOf } from '../measuring/statistics.ts';
import { decimals, type Table, UNKNOWN } from '../report/table.ts';
import { atMost, type Goal } from '../suite.ts';
import type { RealSuite } from './real-suite.ts';
import type { Side } from './side.ts';

/** A row a side that differs from `session`: what that and its pictures cost. */
export function picturesTable(sides: readonly Side[], samples: Samples): Table {
  return {
    head: ['side', 'seconds', 'quartiles', '× session', 'its quartiles', 'processor seconds', 'MB of pictures'],
    rows: sides.map(({ name, title }) => {
      const seconds = spreadOf(samples.values(name, 'seconds'));
      const over = ratios(samples, name, 'session');
      return [
        title,
        decimals(seconds.median, 2),
        between(seconds),
        decimals(median(over), 3),
        between(spreadOf(over)),
        decimals(median(samples.values(name, 'processor')), 2),
        decimals(median(samples.values(name, 'pictureBytes')) / 1e6, 2),
      ];
    }),
  };
}

/** A row a side: its time, what that is over the time of `local` and of `floor`, and the processor time. */
export function runsTable(sides: readonly Side[], samples: Samples): Table {
  return {
    head: ['side', 'seconds', 'quartiles', '× local', 'its quartiles', '× floor', 'processor seconds'],
    rows: sides.map(({ name, title }) => {
      const seconds = spreadOf(samples.values(name, 'seconds'));
      const overLocal = ratios(samples, name, 'local');
      return [
        title,
        decimals(seconds.median, 2),
        between(seconds),
        decimals(median(overLocal), 3),
        overLocal.length > 0 ? between(spreadOf(overLocal)) : UNKNOWN,
        decimals(median(ratios(samples, name, 'floor')), 3),
        decimals(median(samples.values(name, 'processor')), 2),
      ];
    }),
  };
}

/** The suite's goal, for each side with poolwright that was run beside the other one. */
export function goalsOf({ goal }: RealSuite, samples: Samples): Goal[] {
  return [goal ?? []]
    .flat()
    .flatMap(({ sides = ['session', 'pool'], over, atMost: limit }) =>
      sides
        .filter((side) => samples.has(side) && samples.has(over))
        .map((side) => atMost(`${side} × ${over}`, median(ratios(samples, side, over)), limit, '', 3)),
    );
}

function ratios(samples: Samples, side: string, over: string): number[] {
  return pairedRatios(samples.values(side, 'seconds'), samples.values(over, 'seconds'));
}

function between({ lower, upper }: { lower: number; upper: number }): string {
  return `${decimals(lower, 2)}–${decimals(upper, 2)}`;
}
