import { smallest } from '../../common/numbers/extremes.ts';
import type { Model } from './past/model.ts';
import { type Draws, type Plan, type Prediction, predict } from './simulation/predict.ts';
import { sum } from './statistics.ts';

/** Numbers of workers to simulate. Between two of them, little changes. */
const WORKERS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
/** A number gets a row if it makes a run shorter by at least this share. */
const WORTH = 0.02;
/** The table ends after this many numbers in sequence that get no row. */
const NOT_WORTH = 2;

/** Prices, all in the same currency. */
export interface Prices {
  perHour: number;
  /** Per 10⁹ bytes. */
  perGb: number;
}

/** The user's goals. Only the first of the first three that is set is used. */
export interface Goals {
  timeMs?: number | undefined;
  browsers?: number | undefined;
  cost?: number | undefined;
  /** Only this number of shards. */
  shards?: number | undefined;
  /** Maximum number of browsers at the same time. */
  limit?: number | undefined;
  prices?: Prices | undefined;
}

/** A row of the table. */
export interface Choice extends Prediction {
  /** At the same time, in all shards. */
  browsers: number;
  /** Null without prices. */
  cost: number | null;
}

/** The rows of the table: for each number of shards, increasing numbers of browsers, as long as runs get shorter. */
export function choicesOf(model: Model, goals: Goals, draws: Draws): Choice[] {
  const most = Math.min(goals.limit ?? Number.POSITIVE_INFINITY, goals.browsers ?? Number.POSITIVE_INFINITY);
  return shardNumbers(model, goals).flatMap((shards) => rows(model, shards, most, goals, draws));
}

function shardNumbers({ groups, runs }: Model, { shards }: Goals): number[] {
  if (shards !== undefined) return [shards];
  const asBefore = runs.at(-1)?.shards ?? 1;
  return [...new Set([1, 2, 4, asBefore])]
    .filter((count) => count <= Math.max(groups.length, asBefore))
    .sort((a, b) => a - b);
}

function rows(model: Model, shards: number, most: number, { prices }: Goals, draws: Draws): Choice[] {
  const found: Choice[] = [];
  let skipped = 0;
  // More workers than groups would be idle.
  const useful = Math.min(Math.floor(most / shards), model.groups.length);
  for (const workers of numbersUpTo(useful, model.runs.at(-1)?.workers ?? 1)) {
    const choice = choiceOf(model, { workers, shards }, prices, draws);
    const shortest = smallest(found.map(({ medianMs }) => medianMs));
    skipped = choice.medianMs <= shortest * (1 - WORTH) ? 0 : skipped + 1;
    if (skipped === 0 || workers === model.runs.at(-1)?.workers) found.push(choice);
    if (skipped >= NOT_WORTH) break;
  }
  return found;
}

function numbersUpTo(most: number, asBefore: number): number[] {
  const numbers = [...WORKERS, asBefore, most].filter((workers) => workers >= 1 && workers <= most);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Computes one row of the table. */
export function choiceOf(model: Model, plan: Plan, prices: Prices | undefined, draws: Draws): Choice {
  const prediction = predict(model, plan, draws);
  return {
    ...prediction,
    browsers: plan.workers * plan.shards,
    cost: prices ? costOf(model, prediction, prices) : null,
  };
}

function costOf({ runs }: Model, { browserMs }: Prediction, { perHour, perGb }: Prices): number {
  const bytes = sum(runs.map((run) => run.bytes)) / Math.max(1, runs.length);
  return (browserMs / 3_600_000) * perHour + (bytes / 1e9) * perGb;
}

/** The recommended row. */
export interface Recommendation {
  choice: Choice;
  /** False if no row meets the goal, and this one is closest. */
  fits: boolean;
}

/** Fewer browsers are preferred if the run takes at most this much longer than the shortest one. */
const NEARLY = 1.1;

/** Chooses the best row for the goals; null without rows. */
export function recommend(choices: readonly Choice[], { timeMs, browsers, cost }: Goals): Recommendation | null {
  const cheapest = choices.toSorted(
    (a, b) => a.browsers - b.browsers || a.shards - b.shards || a.medianMs - b.medianMs,
  );
  const fastest = choices.toSorted(
    (a, b) => a.medianMs - b.medianMs || a.browsers - b.browsers || a.shards - b.shards,
  )[0];
  const [fewest] = cheapest;
  if (!fastest || !fewest) return null;
  if (timeMs !== undefined) {
    const choice = cheapest.find(({ p90Ms }) => p90Ms <= timeMs);
    return choice ? { choice, fits: true } : { choice: fastest, fits: false };
  }
  if (browsers !== undefined) return { choice: fastest, fits: true };
  if (cost !== undefined) {
    const payable = choices.filter((each) => (each.cost ?? Number.POSITIVE_INFINITY) <= cost);
    const choice = recommend(payable, {})?.choice;
    const least = choices.toSorted((a, b) => (a.cost ?? 0) - (b.cost ?? 0))[0] ?? fewest;
    return choice ? { choice, fits: true } : { choice: least, fits: false };
  }
  return { choice: cheapest.find(({ medianMs }) => medianMs <= fastest.medianMs * NEARLY) ?? fastest, fits: true };
}
