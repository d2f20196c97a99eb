import { type Bounds, boundsOf, imbalanceOf } from './bounds.ts';
import { type Choice, choiceOf, choicesOf, type Recommendation, recommend, type Wishes } from './choices.ts';
import { type RetryCost, retryCost, type WaitCost, waitCost } from './losses.ts';
import { notesOn } from './notes.ts';
import { type Model, modelOf } from './past/model.ts';
import type { PastRun } from './past/past-runs.ts';
import { type Draws, predict } from './simulation/predict.ts';

/** How often each plan is simulated, at least: each past run the same number of times. */
const DRAWS = 20;
/** Most tests that are put in their places for one plan: what a large suite takes is bounded. */
const MOST_STEPS = 60_000;

/** What past runs say of runs to come. Times in ms. */
export interface Advice {
  suite: { tests: number; groups: number; projects: number; sideBySide: Model['sideBySide'] };
  /** The runs that it is made from, as they were. */
  runs: { workers: number; shards: number; wallMs: number; browserMs: number }[];
  choices: Choice[];
  /** Null: nothing may be chosen. */
  recommended: Recommendation | null;
  bounds: Bounds;
  /** Of the recommended row, or of runs as they were. */
  of: Choice;
  retries: RetryCost;
  waits: WaitCost;
  /** The same run with every test given to a worker by itself, in the median. Null: they are already. */
  fullyParallelMs: number | null;
  /** How much more than the mean the longest shard has to do: 1 is the same. */
  imbalance: number;
  /** What the figures take for granted, one sentence each. */
  notes: string[];
}

/** What advice is asked for. */
export interface AdviseOptions extends Wishes {
  /** Whether the tests of a file run side by side. Default: as the records show. */
  fullyParallel?: boolean | undefined;
  /** The same seed gives the same advice. Default: 1. */
  seed?: number | undefined;
  /** Simulations of each plan. Default: 20, and fewer for suites of thousands of tests. */
  draws?: number | undefined;
}

/** Advice from whole runs, at least one, the newest last. */
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
  const affordable = Math.max(1, Math.floor(MOST_STEPS / Math.max(1, tests.length)));
  const rounds = Math.ceil(Math.min(DRAWS, affordable) / runs.length);
  return rounds * runs.length;
}
