import { largest } from '../../common/numbers/extremes.ts';
import type { Model, PastTimes, TestGroup, Try } from '../past/model.ts';
import type { Gap, Samples, Source } from '../past/samples.ts';
import { drawn, median, quantile, sum } from '../statistics.ts';
import { type Costs, type Job, type Schedule, schedule } from './schedule.ts';
import { ofShard } from './shards.ts';

/** How a run could be made: so many workers with a browser each, in each of so many shards. */
export interface Plan {
  workers: number;
  shards: number;
}

/** How a simulated run differs from the past ones. */
export interface Change {
  /** Where browsers come from; `ready`: from a pool that always has one. Default: as in the past runs. */
  browsersFrom?: Source | 'ready';
  /** Every test passes at its first try. */
  noFailures?: boolean;
  /** Each test is given to a worker by itself. */
  fullyParallel?: boolean;
}

/** How often a run is simulated, and from what the draws come. */
export interface Draws {
  /** At least one; each past run is drawn equally often. */
  draws: number;
  seed: number;
}

/** What is to be expected. Times in ms. */
export interface Prediction extends Plan {
  medianMs: number;
  p90Ms: number;
  /** Time of all browsers together, in the median. */
  browserMs: number;
  /** What workers waited for browsers together, in the median. */
  waitedMs: number;
}

/** One simulated run. */
interface SimulatedRun {
  wallMs: number;
  browserMs: number;
  waitedMs: number;
}

/** Simulates runs by this plan. The same numbers give the same answer. */
export function predict(model: Model, plan: Plan, { draws, seed }: Draws, change: Change = {}): Prediction {
  const runs: SimulatedRun[] = [];
  for (let draw = 0; draw < draws; draw += 1) {
    const times = model.runs[draw % model.runs.length];
    if (times) runs.push(simulate(model, times, plan, { draw, seed }, change));
  }
  const wall = runs.map(({ wallMs }) => wallMs);
  return {
    ...plan,
    medianMs: median(wall),
    p90Ms: quantile(wall, 0.9),
    browserMs: median(runs.map(({ browserMs }) => browserMs)),
    waitedMs: median(runs.map(({ waitedMs }) => waitedMs)),
  };
}

function simulate(
  model: Model,
  times: PastTimes,
  { workers, shards }: Plan,
  { draw, seed }: { draw: number; seed: number },
  change: Change,
): SimulatedRun {
  const done: Schedule[] = [];
  for (let current = 1; current <= shards; current += 1) {
    const costs = costsOf(times.samples, [seed, draw, current], change);
    done.push(schedule(shardJobs(model, times, { current, total: shards }, change), workers, costs));
  }
  return {
    wallMs: largest(done.map(({ wallMs }) => wallMs)),
    browserMs: sum(done.flatMap(({ browsers }) => browsers)),
    waitedMs: sum(done.flatMap(({ steps }) => steps.map(({ waitMs }) => waitMs))),
  };
}

/** What a shard runs, phase by phase. */
export function shardJobs(
  model: Model,
  times: Pick<PastTimes, 'tries'>,
  shard: { current: number; total: number },
  { noFailures = false, fullyParallel = false }: Change = {},
): Job[][] {
  const groups = fullyParallel ? model.groups.flatMap(separate) : model.groups;
  const phases = largest(model.phases, 0) + 1;
  return Array.from({ length: phases }, (_, phase) => {
    const here = groups.filter(({ project }) => model.phases[project] === phase);
    const own = phase === model.sharedPhase ? ofShard(here, shard.current, shard.total) : here;
    return own.map(({ project, tests }) => ({
      project,
      kind: model.kinds[project] ?? project,
      tests: tests.map((test) => {
        const tries = times.tries[test] ?? [];
        return { test, tries: noFailures ? passed(tries) : tries, done: 0 };
      }),
    }));
  });
}

function separate(group: TestGroup): TestGroup[] {
  return group.tests.map((test) => ({ ...group, tests: [test] }));
}

/** The last try is the one that passed, if any did. */
function passed(tries: readonly Try[]): Try[] {
  const last = tries.at(-1);
  return last ? [{ ...last, failed: false }] : [];
}

function costsOf(samples: Samples, drawnFrom: number[], { browsersFrom }: Change): Costs {
  const { headMs, tailMs, aheadMs, reuse, gaps } = samples;
  const restarts = gaps.restart.length > 0 ? gaps.restart : [headMs];
  const spaces: Record<Gap, number[]> = {
    test: gaps.test,
    group: gaps.group.length > 0 ? gaps.group : gaps.test,
    restart: restarts,
  };
  const waits = browsersFrom === 'ready' ? { first: [0], later: [0] } : waitsOf(samples, browsersFrom);
  return {
    headMs,
    tailMs,
    aheadMs,
    reuse,
    gapMs: (gap, test, retry) => drawn(spaces[gap], ...drawnFrom, 1, test, retry),
    waitMs: (nth, first) => drawn(first ? waits.first : waits.later, ...drawnFrom, 2, nth),
  };
}

/** What is known of waits for browsers of this source, or of all. A later browser is one that nobody fetched ahead. */
function waitsOf({ waits, starts }: Samples, source: Source | undefined): { first: number[]; later: number[] } {
  const sources = source === undefined ? (['pool', 'session'] as const) : [source];
  const first = sources.flatMap((each) => waits[each].first);
  const later = sources.flatMap((each) => waits[each].later);
  const started = sources.flatMap((each) => starts[each]);
  return { first: first.length > 0 ? first : later, later: later.length > 0 ? later : started };
}
