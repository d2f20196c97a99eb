import { parseArgs } from 'node:util';

/** What `npm run bench` was asked for. */
export interface BenchOptions {
  /** Rounds of every suite; null: each suite's own number. */
  rounds: number | null;
  /** Names of suites; null: all. */
  suites: string[] | null;
  /** Names of the sides that run real suites; null: all. */
  sides: string[] | null;
  /** The order of the sides in each round is drawn from it. */
  seed: number;
  /** File for the results; null: none. */
  json: string | null;
  /** Whether bench/results/performance.md is written. */
  write: boolean;
  help: boolean;
}

/** @throws Error naming the option */
export function readOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      suite: { type: 'string' },
      side: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { rounds, suite, side, seed, json = null, write, help } = values;
  return {
    rounds: rounds === undefined ? null : wholeNumber(rounds, '--rounds', 1),
    suites: suite === undefined ? null : names(suite),
    sides: side === undefined ? null : names(side),
    seed: wholeNumber(seed, '--seed', 0),
    json,
    write,
    help,
  };
}

/** Those of `all` that were asked for, in the order of `all`. @throws Error for a name that none has */
export function chosen<T extends { name: string }>(all: readonly T[], asked: string[] | null, option: string): T[] {
  if (asked === null) return [...all];
  const known = all.map(({ name }) => name);
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${option}: there is no "${unknown}"; there are ${known.join(', ')}`);
  return all.filter(({ name }) => asked.includes(name));
}

function names(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}

function wholeNumber(text: string, option: string, least: number): number {
  const number = Number(text);
  if (!/^\d{1,9}$/.test(text) || number < least) {
    throw new Error(`${option}: a whole number from ${least} on is wanted, not "${text}"`);
  }
  return number;
}
