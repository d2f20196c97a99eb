import { largest } from '../../../common/numbers/extremes.ts';
import type { Model, PastTimes, TestGroup, Try } from '../past/model.ts';
import type { Gap, Samples, Source } from '../past/samples.ts';
import { drawn, median, quantile, sum } from '../statistics.ts';
import { type Costs, type Job, type Schedule, schedule } from './schedule.ts';

/** A possible run: workers with a browser each, per shard. */
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
  /** Each test is a separate group. */
  fullyParallel?: boolean;
}

/** Number and seed of the simulations. */
export interface Draws {
  /** At least one. Each past run is used equally often. */
  draws: number;
  seed: number;
}

/** Predicted times of a run, in ms. */
export interface Prediction extends Plan {
  medianMs: number;
  p90Ms: number;
  /** Median of the time of all browsers together. */
  browserMs: number;
  /** Median of the total time that workers wait for browsers. */
  waitedMs: number;
}

/** One simulated run. */
interface SimulatedRun {
  wallMs: number;
  browserMs: number;
  waitedMs: number;
}

/** Simulates runs with this plan. The same input gives the same result. */
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

/** The jobs of a shard, by phase. */
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

/** Only the last try, as passed. */
function passed(tries: readonly Try[]): Try[] {
  const last = tries.at(-1);
  return last ? [{ ...last, failed: false }] : [];
}

function costsOf(samples: Samples, drawnFrom: number[], { browsersFrom }: Change): Costs {
  const { headMs, tailMs, prefetchMs, reuse, gaps } = samples;
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
    prefetchMs,
    reuse,
    gapMs: (gap, test, retry) => drawn(spaces[gap], ...drawnFrom, 1, test, retry),
    waitMs: (nth, first) => drawn(first ? waits.first : waits.later, ...drawnFrom, 2, nth),
  };
}

/** Known waits for browsers of one source, or of all. Later browsers are not prefetched. */
function waitsOf({ waits, starts }: Samples, source: Source | undefined): { first: number[]; later: number[] } {
  const sources = source === undefined ? (['pool', 'session'] as const) : [source];
  const first = sources.flatMap((each) => waits[each].first);
  const later = sources.flatMap((each) => waits[each].later);
  const started = sources.flatMap((each) => starts[each]);
  return { first: first.length > 0 ? first : later, later: later.length > 0 ? later : started };
}

/**
 * The groups of a shard, as Playwright assigns them: each shard gets the same number of consecutive tests, and a group
 * belongs to the shard of its first test.
 * @param current from 1
 */
export function ofShard<G extends Pick<TestGroup, 'tests'>>(groups: readonly G[], current: number, total: number): G[] {
  const tests = groups.reduce((count, group) => count + group.tests.length, 0);
  const size = Math.floor(tests / total);
  const larger = tests % total;
  const from = (current - 1) * size + Math.min(current - 1, larger);
  const to = from + size + (current <= larger ? 1 : 0);
  let first = 0;
  return groups.filter((group) => {
    const isHere = first >= from && first < to;
    first += group.tests.length;
    return isHere;
  });
}
