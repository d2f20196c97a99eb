import type { InterleaveOptions } from './measuring/interleave.ts';
import type { Samples } from './measuring/samples.ts';
import type { Table } from './report/table.ts';

/** Something that is measured, by `npm run bench -- --suite <name>`. */
export interface Suite {
  name: string;
  title: string;
  /** What is measured and how, for who reads the figures; plain Markdown. */
  about: string;
  /** Rounds that give steady figures on a quiet machine. */
  rounds: number;
  run(order: SuiteOrder): Promise<SuiteResult>;
}

/** How a suite is to be run. */
export interface SuiteOrder extends InterleaveOptions {
  /** Names of sides of real runs; null: all. */
  sides: string[] | null;
  /** Path of the headless shell. */
  chromium: string;
}

export interface SuiteResult {
  samples: Samples;
  tables: Table[];
  goals: Goal[];
}

/** What a figure shall be. A goal that is missed is told, and fails nothing: the machine may be busy. */
export interface Goal {
  text: string;
  isMet: boolean;
}

/** A goal for a figure that shall not be above `limit`. */
export function atMost(what: string, value: number, limit: number, unit = '', digits = 2): Goal {
  return {
    text: `${what} at most ${limit}${unit}: it is ${value.toFixed(digits)}${unit}`,
    isMet: value <= limit,
  };
}

/** A goal for a figure that shall not be below `limit`. */
export function atLeast(what: string, value: number, limit: number, unit = '', digits = 2): Goal {
  return {
    text: `${what} at least ${limit}${unit}: it is ${value.toFixed(digits)}${unit}`,
    isMet: value >= limit,
  };
}
