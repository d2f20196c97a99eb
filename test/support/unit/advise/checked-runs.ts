import { readFileSync } from 'node:fs';
import { type RunRecord, runRecord } from '../../../../src/record/run-record.ts';
import { advise } from '../../../../src/report/advise/advise.ts';
import { choiceOf } from '../../../../src/report/advise/choices.ts';
import { modelOf } from '../../../../src/report/advise/past/model.ts';
import { type PastRun, pastRuns } from '../../../../src/report/advise/past/past-runs.ts';
import type { Plan } from '../../../../src/report/advise/simulation/predict.ts';

/** Real runs of one suite with different numbers of workers and shards, from `node scripts/advise-check.mjs`. */
export interface CheckedRun extends Plan {
  suite: string;
  records: RunRecord[];
}

/** A prediction from one run for another. */
export interface Check {
  suite: string;
  from: Plan;
  to: Plan;
  realMs: number;
  predictedMs: number;
  /** Relative error of the prediction: negative if it is too short. */
  error: number;
}

/** The committed runs, one per line. */
const CHECKED_RUNS = new URL('checked-runs.jsonl', import.meta.url);

export function readCheckedRuns(file: URL | string = CHECKED_RUNS): CheckedRun[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map((run): CheckedRun => ({ ...run, records: run.records.map((record: unknown) => runRecord.parse(record)) }));
}

export function pastRunOf({ suite, records }: CheckedRun): PastRun {
  const { runs, skipped } = pastRuns(records.map((record, n) => ({ file: `${suite} ${n}`, record })));
  const [run] = runs;
  if (!run || runs.length > 1 || skipped.length > 0) throw new Error(`${suite}: ${JSON.stringify(skipped)}`);
  return run;
}

/** Predicts each run of a suite from each other run of it. */
export function checksOf(runs: readonly CheckedRun[]): Check[] {
  return runs.flatMap((from) => {
    const model = modelOf([pastRunOf(from)]);
    return runs
      .filter(({ suite }) => suite === from.suite)
      .map((to): Check => {
        const realMs = advise([pastRunOf(to)], { draws: 1 }).runs[0]?.wallMs ?? 0;
        const predictedMs = choiceOf(model, to, undefined, { draws: 20, seed: 1 }).medianMs;
        const plans = { from: planOf(from), to: planOf(to) };
        return { suite: from.suite, ...plans, realMs, predictedMs, error: (predictedMs - realMs) / realMs };
      });
  });
}

function planOf({ workers, shards }: Plan): Plan {
  return { workers, shards };
}
