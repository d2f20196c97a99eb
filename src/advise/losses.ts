import type { Model } from './past/model.ts';
import type { Source } from './past/samples.ts';
import { type Change, type Draws, type Plan, type Prediction, predict } from './simulation/predict.ts';
import { median, sum } from './statistics.ts';

/** From this share of a run on, a pool is worth its browsers that wait. */
const WORTH = 0.05;

/** A run as it is expected, and as it would be without something. */
export interface Without {
  /** How much shorter the run would be, in the median, in ms; never below zero. */
  savesMs: number;
  /** The same for the time of all browsers together. */
  savesBrowserMs: number;
}

/** What retries cost. */
export interface RetryCost extends Without {
  /** Failed tries of a run, and how long they took, in the mean of the past runs. */
  failedTries: number;
  failedMs: number;
}

/** What browsers cost in time, by where they come from. */
export interface SourceCost {
  source: Source;
  /** Browsers of the past runs that came from there. */
  browsers: number;
  /** Medians in ms: from asking the service for one to having it, and what a worker waited. */
  startMs: number;
  waitMs: number;
  /** The run with every browser from there, in the median. */
  wallMs: number;
}

/** What waiting costs, and whether a pool would be better. */
export interface WaitCost extends Without {
  /** What workers wait for browsers, all together. */
  waitedMs: number;
  sources: SourceCost[];
  recommended: Source;
  why:
    | 'compared'
    | 'a pool that always has a browser saves little'
    | 'a pool that always has a browser saves much'
    | 'unknown';
}

/** What failed tries cost a run of this plan. */
export function retryCost(model: Model, usual: Prediction, draws: Draws): RetryCost {
  const failed = model.runs.map(({ tries }) => tries.flatMap((of) => of.filter((each) => each.failed)));
  const runs = Math.max(1, model.runs.length);
  return {
    failedTries: sum(failed.map((tries) => tries.length)) / runs,
    failedMs: sum(failed.flatMap((tries) => tries.map(({ ms }) => ms))) / runs,
    ...without(model, usual, draws, { noFailures: true }),
  };
}

/** What waiting for browsers costs a run of this plan. */
export function waitCost(model: Model, usual: Prediction, draws: Draws): WaitCost {
  const saved = without(model, usual, draws, { browsersFrom: 'ready' });
  const sources = (['pool', 'session'] as const).flatMap((source) => sourceCost(model, usual, draws, source));
  const [pool, session] = [
    sources.find(({ source }) => source === 'pool'),
    sources.find(({ source }) => source === 'session'),
  ];
  const worth = (savesMs: number) => savesMs >= usual.medianMs * WORTH;
  const common = { ...saved, waitedMs: usual.waitedMs, sources };
  if (pool && session) {
    return { ...common, recommended: worth(session.wallMs - pool.wallMs) ? 'pool' : 'session', why: 'compared' };
  }
  if (session) {
    const much = worth(saved.savesMs);
    const why = much ? 'a pool that always has a browser saves much' : 'a pool that always has a browser saves little';
    return { ...common, recommended: much ? 'pool' : 'session', why };
  }
  return { ...common, recommended: 'pool', why: 'unknown' };
}

function sourceCost(model: Model, plan: Plan, draws: Draws, source: Source): SourceCost[] {
  const samples = model.runs.map((run) => run.samples);
  const waits = samples.flatMap((each) => [...each.waits[source].first, ...each.waits[source].later]);
  if (waits.length === 0) return [];
  return [
    {
      source,
      browsers: sum(samples.map((each) => each.sources[source])),
      startMs: median(samples.flatMap((each) => each.starts[source])),
      waitMs: median(waits),
      wallMs: predict(model, plan, draws, { browsersFrom: source }).medianMs,
    },
  ];
}

function without(model: Model, usual: Prediction, draws: Draws, change: Change): Without {
  const changed = predict(model, usual, draws, change);
  return {
    savesMs: Math.max(0, usual.medianMs - changed.medianMs),
    savesBrowserMs: Math.max(0, usual.browserMs - changed.browserMs),
  };
}
