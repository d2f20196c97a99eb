import { Option as CommandOption, InvalidArgumentError, type Option } from 'commander';
import { OptionsError } from '../../../errors.ts';
import type { AdviseOptions } from '../../../report/advise/advise.ts';
import { decimal, integer } from '../../numbers.ts';

/** The command line's flags for goals. */
export interface GoalFlags {
  time?: number;
  browsers?: number;
  cost?: number;
  shards?: number;
  limit?: number;
  pricePerHour?: number;
  pricePerGb?: number;
  fullyParallel?: boolean;
  seed?: number;
}

/** A larger number is probably a typing error, and would take long to simulate. */
const MOST_SHARDS = 1_000;

const UNITS = { h: 3_600_000, m: 60_000, min: 60_000, s: 1_000, ms: 1 };

/** Parser of `5m`, `90s`, `1h30m`. @returns ms */
export function span(value: string): number {
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)\s*(ms|min|h|m|s)/g)];
  const rest = value.replace(/(\d+(?:\.\d+)?)\s*(ms|min|h|m|s)/g, '').trim();
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS], 0);
  if (parts.length === 0 || rest !== '' || ms <= 0)
    throw new InvalidArgumentError('It must be a time, such as 5m, 90s or 1h30m.');
  return ms;
}

/** The options of the command. */
export function goalOptions(): Option[] {
  return [
    new CommandOption(
      '--time <time>',
      'find the fewest browsers that finish within this time in 9 of 10 runs: 5m, 90s, 1h30m',
    )
      .argParser(span)
      .conflicts(['browsers', 'cost']),
    new CommandOption('--browsers <number>', 'find the best use of this many browsers at once')
      .argParser(integer)
      .conflicts('cost'),
    new CommandOption('--cost <amount>', 'find the fastest run that costs at most this; needs prices').argParser(
      decimal,
    ),
    new CommandOption('--shards <number>', 'only this number of shards').argParser(integer),
    new CommandOption('--limit <number>', "the plan's limit on browsers, see `poolwright account`").argParser(integer),
    new CommandOption('--price-per-hour <amount>', 'price of one browser for an hour').argParser(decimal),
    new CommandOption('--price-per-gb <amount>', 'price of 10^9 bytes').argParser(decimal),
    new CommandOption('--fully-parallel', 'the tests of a file run in parallel (default: as in the records)'),
    new CommandOption('--no-fully-parallel', 'the tests of a file run one after another'),
    new CommandOption('--seed <number>', 'seed for random waits').argParser(integer),
  ];
}

/** @throws OptionsError for a number out of its bounds, and for a cost without prices */
export function goalsOf(flags: GoalFlags): AdviseOptions {
  const { time, browsers, cost, shards, limit, pricePerHour, pricePerGb, fullyParallel, seed } = flags;
  for (const [name, value] of Object.entries({ browsers, shards, limit })) {
    if (value !== undefined && value < 1)
      throw new OptionsError(`--${name}`, `--${name} must be 1 or more, not ${value}`);
  }
  if (shards !== undefined && shards > MOST_SHARDS) {
    throw new OptionsError('--shards', `--shards must be ${MOST_SHARDS} or less, not ${shards}`);
  }
  for (const [name, value] of Object.entries({ cost, 'price-per-hour': pricePerHour, 'price-per-gb': pricePerGb })) {
    if (value !== undefined && value < 0) throw new OptionsError(`--${name}`, `--${name} must not be negative`);
  }
  const isPriced = pricePerHour !== undefined || pricePerGb !== undefined;
  if (cost !== undefined && !isPriced) {
    throw new OptionsError(
      '--cost',
      '--cost needs --price-per-hour, --price-per-gb or both: the service does not report prices',
    );
  }
  const prices = isPriced ? { perHour: pricePerHour ?? 0, perGb: pricePerGb ?? 0 } : undefined;
  return { timeMs: time, browsers, cost, shards, limit, prices, seed, fullyParallel };
}
