import type { Model } from './past/model.ts';
import type { Source } from './past/samples.ts';
import { type Change, type Draws, type Plan, type Prediction, predict } from './simulation/predict.ts';
import { median, sum } from './statistics.ts';

/** A pool is recommended if it saves at least this share of a run. */
const WORTH = 0.05;

/** What a run would save without something. */
export interface Without {
  /** How much shorter the median run would be, in ms; never negative. */
  savesMs: number;
  /** How much less time all browsers together would take, in ms. */
  savesBrowserMs: number;
}

/** The cost of retries. */
export interface RetryCost extends Without {
  /** Mean number of failed tries in a past run, and their total time. */
  failedTries: number;
  failedMs: number;
}

/** Waiting times for browsers of one source. */
export interface SourceCost {
  source: Source;
  /** Number of browsers from this source in the past runs. */
  browsers: number;
  /** Medians in ms: from requesting a browser to receiving it, and how long a worker waited. */
  startMs: number;
  waitMs: number;
  /** Median time of a run with all browsers from this source, in ms. */
  wallMs: number;
}

/** The cost of waiting for browsers, and the recommended source. */
export interface WaitCost extends Without {
  /** Total time that workers wait for browsers, in ms. */
  waitedMs: number;
  sources: SourceCost[];
  recommended: Source;
  why:
    | 'compared'
    | 'a pool that always has a browser saves little'
    | 'a pool that always has a browser saves much'
    | 'unknown';
}

/** Computes what failed tries cost a run with this plan. */
export function retryCost(model: Model, usual: Prediction, draws: Draws): RetryCost {
  const failed = model.runs.map(({ tries }) => tries.flatMap((of) => of.filter((each) => each.failed)));
  const runs = Math.max(1, model.runs.length);
  return {
    failedTries: sum(failed.map((tries) => tries.length)) / runs,
    failedMs: sum(failed.flatMap((tries) => tries.map(({ ms }) => ms))) / runs,
    ...without(model, usual, draws, { noFailures: true }),
  };
}

/** Computes what waiting for browsers costs a run with this plan. */
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
