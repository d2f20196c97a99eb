import { type Advice, advise } from '../../advise/advise.ts';
import { pastRuns } from '../../advise/past/past-runs.ts';
import { printable } from '../../common/text/printable.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { boundLines, parallelLine, retryLine, shardLine, waitLines } from '../advice/sentences.ts';
import type { TimelineAdvice } from './data.ts';

/** Simulations of each plan for the page of one run, which is made at its end. */
const DRAWS = 5;

/** What a run alone tells of runs with other numbers of browsers; null: it is not whole, or had nothing to share. */
export function adviceOn(record: RunRecord): Advice | null {
  const { runs } = pastRuns([{ file: 'run.json', record }]);
  const [run] = runs;
  if (!run) return null;
  const advice = advise([run], { shards: run.parts.length, draws: DRAWS });
  return advice.suite.groups > 1 ? advice : null;
}

/** Advice as the page gets it. */
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
