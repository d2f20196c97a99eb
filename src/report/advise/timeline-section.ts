import { printable } from '../../printable.ts';
import type { RunRecord } from '../../record/run-record.ts';
import type { TimelineAdvice } from '../timeline/data.ts';
import { type Advice, advise } from './advise.ts';
import { pastRuns } from './past/past-runs.ts';
import { boundLines, parallelLine, retryLine, shardLine, waitLines } from './sentences.ts';

/** Simulations of each plan for the page of one run, which is created when the run ends. */
const DRAWS = 5;

/** Advice based on this run only; null if it is not complete or has only one group of tests. */
export function adviceOn(record: RunRecord): TimelineAdvice | null {
  const { runs } = pastRuns([{ file: 'run.json', record }]);
  const [run] = runs;
  if (!run) return null;
  const advice = advise([run], { shards: run.parts.length, draws: DRAWS });
  return advice.suite.groups > 1 ? adviceData(advice) : null;
}

/** Advice as data for the page. */
export function adviceData(advice: Advice): TimelineAdvice {
  const { choices, recommended, runs, bounds } = advice;
  return {
    choices: choices.map(({ browsers, shards, workers, medianMs, p90Ms, browserMs, cost }) => {
      return { browsers, shards, workers, medianMs, p90Ms, browserMs, cost };
    }),
    recommended: recommended ? choices.indexOf(recommended.choice) : -1,
    runs: runs.map(({ workers, shards, wallMs }) => ({ browsers: workers * shards, wallMs })),
    boundMs: bounds.groups[0]?.ms ?? 0,
    sentences: [
      ...boundLines(advice).slice(0, 1),
      ...parallelLine(advice),
      ...shardLine(advice),
      ...waitLines(advice),
      retryLine(advice),
      ...advice.notes,
    ].map(printable),
  };
}
