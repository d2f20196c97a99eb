import { largest } from '../../common/numbers/extremes.ts';
import type { Model, SuiteTest } from './past/model.ts';
import { type Plan, shardJobs } from './simulation/predict.ts';
import { median, sum } from './statistics.ts';

/** How many of the longest groups are listed. */
const LISTED = 5;

/** A group of tests that one worker runs in sequence. A run cannot be shorter, regardless of the number of browsers. */
export interface LongGroup {
  project: string;
  file: string;
  tests: number;
  /** Median time in the past runs, including failed tries. */
  ms: number;
  /** From this number of workers on, the run waits for this group: the others finish all other work earlier. */
  boundsFrom: number;
  slowest: SuiteTest & { ms: number };
}

/** Lower bounds for the time of a run. */
export interface Bounds {
  /** Total time of all tests, in ms. */
  workMs: number;
  groups: LongGroup[];
}

/** The groups that limit how short a run can be, longest first. */
export function boundsOf(model: Model): Bounds {
  const msOf = model.tests.map((_, test) =>
    median(model.runs.map(({ tries }) => sum((tries[test] ?? []).map(({ ms }) => ms)))),
  );
  const workMs = sum(msOf);
  const groups = model.groups.map(({ project, file, tests }): LongGroup => {
    const ms = sum(tests.map((test) => msOf[test] ?? 0));
    const slowest = tests.reduce((most, test) => ((msOf[test] ?? 0) > (msOf[most] ?? 0) ? test : most), tests[0] ?? 0);
    const named = model.tests[slowest];
    return {
      project: model.projects[project] ?? '',
      file,
      tests: tests.length,
      ms,
      boundsFrom: ms > 0 ? Math.max(1, Math.ceil(workMs / ms)) : Number.POSITIVE_INFINITY,
      slowest: { id: '', title: '', line: 0, project: '', file, ...named, ms: msOf[slowest] ?? 0 },
    };
  });
  return { workMs, groups: groups.sort((a, b) => b.ms - a.ms).slice(0, LISTED) };
}

/** How evenly shards share the work: the longest shard as a multiple of the mean; 1: all are equal. */
export function imbalanceOf(model: Model, { shards }: Pick<Plan, 'shards'>): number {
  const times = model.runs.at(-1);
  if (!times || shards === 1) return 1;
  const work = Array.from({ length: shards }, (_, n) =>
    sum(
      shardJobs(model, times, { current: n + 1, total: shards }).flatMap((jobs) =>
        jobs.flatMap(({ tests }) => tests.flatMap(({ tries }) => tries.map(({ ms }) => ms))),
      ),
    ),
  );
  const mean = sum(work) / shards;
  return mean > 0 ? largest(work) / mean : 1;
}
