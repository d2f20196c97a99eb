import { type Bounds, boundsOf, imbalanceOf } from './bounds.ts';
import { type Choice, choiceOf, choicesOf, type Goals, type Recommendation, recommend } from './choices.ts';
import { type RetryCost, retryCost, type WaitCost, waitCost } from './losses.ts';
import { notesOn } from './notes.ts';
import { type Model, modelOf } from './past/model.ts';
import type { PastRun } from './past/past-runs.ts';
import { type Draws, predict } from './simulation/predict.ts';

/** Minimum number of simulations of each plan. Each past run is used equally often. */
const DRAWS = 20;
/** Limit of simulated test placements per plan, which bounds the time for large suites. */
const MAX_STEPS = 60_000;

/** Predictions for future runs, from past ones. Times in ms. */
export interface Advice {
  suite: { tests: number; groups: number; projects: number; sideBySide: Model['sideBySide'] };
  /** The past runs that it is based on. */
  runs: { workers: number; shards: number; wallMs: number; browserMs: number }[];
  choices: Choice[];
  /** Null if no choice is possible. */
  recommended: Recommendation | null;
  bounds: Bounds;
  /** The recommended row, or a row for the newest past run. */
  of: Choice;
  retries: RetryCost;
  waits: WaitCost;
  /** Median time of the same run with `fullyParallel`. Null if it already is. */
  fullyParallelMs: number | null;
  /** Work of the longest shard, as a multiple of the mean; 1: all are equal. */
  imbalance: number;
  /** Assumptions behind the figures, one sentence each. */
  notes: string[];
}

/** Options of {@link advise}. */
export interface AdviseOptions extends Goals {
  /** Whether the tests of a file run in parallel. Default: as the records show. */
  fullyParallel?: boolean | undefined;
  /** The same seed gives the same advice. Default: 1. */
  seed?: number | undefined;
  /** Simulations of each plan. Default: 20; fewer for suites of thousands of tests. */
  draws?: number | undefined;
}

/** Computes advice from complete runs. Needs at least one; the newest is last. */
export function advise(runs: readonly PastRun[], options: AdviseOptions = {}): Advice {
  const { seed = 1, fullyParallel = null, prices } = options;
  const model = modelOf(runs, fullyParallel);
  const draws: Draws = { draws: options.draws ?? drawsFor(model), seed };
  const choices = choicesOf(model, options, draws);
  const recommended = recommend(choices, options);
  const asBefore = model.runs.at(-1) ?? { workers: 1, shards: 1 };
  const plan = { workers: asBefore.workers, shards: asBefore.shards };
  const of = recommended?.choice ?? choiceOf(model, plan, prices, draws);
  return {
    suite: {
      tests: model.tests.length,
      groups: model.groups.length,
      projects: model.projects.length,
      sideBySide: model.sideBySide,
    },
    runs: model.runs.map(({ workers, shards, wallMs, browserMs }) => ({ workers, shards, wallMs, browserMs })),
    choices,
    recommended,
    bounds: boundsOf(model),
    of,
    retries: retryCost(model, of, draws),
    waits: waitCost(model, of, draws),
    fullyParallelMs: model.sideBySide === 'all' ? null : predict(model, of, draws, { fullyParallel: true }).medianMs,
    imbalance: imbalanceOf(model, of),
    notes: notesOn(model, runs),
  };
}

function drawsFor({ tests, runs }: Model): number {
  const affordable = Math.max(1, Math.floor(MAX_STEPS / Math.max(1, tests.length)));
  const rounds = Math.ceil(Math.min(DRAWS, affordable) / runs.length);
  return rounds * runs.length;
}
