import { largest } from '../../../common/numbers/extremes.ts';
import type { RunRecord } from '../../../record/run-record.ts';
import { grouped } from '../grouped.ts';
import { sum } from '../statistics.ts';
import { type ObservedPart, type ObservedTry, observe } from './observed.ts';
import { browserKinds, type FileMode, fileKey, fileModes, phasesOf, queueOrder } from './order.ts';
import type { PastRun } from './past-runs.ts';
import { type Samples, samplesOf } from './samples.ts';

/** A test of the suite. */
export interface SuiteTest extends Pick<ObservedTry, 'id' | 'title' | 'file' | 'line' | 'project'> {}

/** Tests that one worker runs in sequence. */
export interface TestGroup {
  /** Index in {@link Model.projects}. */
  project: number;
  file: string;
  /** Indexes in {@link Model.tests}, in their order. */
  tests: number[];
}

/** A try of a test: its time in ms, and whether it failed. */
export interface Try {
  ms: number;
  failed: boolean;
}

/** The times of one past run. */
export interface PastTimes {
  /** By test. For tests that this run lacks, the tries of the newest run. */
  tries: (readonly Try[])[];
  samples: Samples;
  /** Transferred bytes: the service's figure, or else those observed in the tests' pages. */
  bytes: number;
  /** The actual numbers of the run. */
  workers: number;
  shards: number;
  wallMs: number;
  browserMs: number;
}

/** A suite, as past runs show it: the tests of the newest run, and their times in all runs. */
export interface Model {
  tests: SuiteTest[];
  projects: string[];
  /** For each project: the kind of its browsers, and how many phases Playwright runs before it. */
  kinds: number[];
  phases: number[];
  /**
   * The phase whose tests are divided among shards. Other phases run in every shard, like dependencies of other
   * projects.
   */
  sharedPhase: number;
  /** In the order of Playwright's queue. */
  groups: TestGroup[];
  /** How the tests of a file run, and whether the records show it (`seen`), or it is assumed or given (`given`). */
  sideBySide: 'none' | 'some' | 'all';
  modeSource: 'seen' | 'assumed' | 'given';
  runs: PastTimes[];
}

/**
 * @param runs at least one, the newest last
 * @param fullyParallel whether the tests of a file run in parallel; null: as the records show
 */
export function modelOf(runs: readonly PastRun[], fullyParallel: boolean | null = null): Model {
  const observed = runs.map(({ parts }) => parts.map(observe));
  const newest = observed.at(-1) ?? [];
  const everything = observed.flat();
  const known = new Map(newest.flatMap(({ tries }) => tries.map((one) => [one.id, one])));
  const tests = queueOrder(newest).flatMap((id) => known.get(id) ?? []);
  const projects = [...new Set(tests.map(({ project }) => project))];
  const { isParallel, modeSource } = modeOf(fileModes(everything), fullyParallel);
  const groups = groupsOf(tests, projects, isParallel);
  const phases = phasesOf(projects, everything);
  const keys = [...new Set(tests.map(fileKey))];
  const parallelFiles = keys.filter(isParallel).length;
  const latest = triesOf(newest);
  return {
    tests: tests.map(({ id, title, file, line, project }) => ({ id, title, file, line, project })),
    projects,
    kinds: browserKinds(projects, everything),
    phases,
    sharedPhase: largestPhase(groups, phases),
    groups,
    sideBySide: parallelFiles === 0 ? 'none' : parallelFiles === keys.length ? 'all' : 'some',
    modeSource,
    runs: runs.map(({ parts }, n) => {
      const own = observed[n] ?? [];
      const tries = triesOf(own);
      return {
        tries: tests.map(({ id }) => tries.get(id) ?? latest.get(id) ?? []),
        samples: samplesOf(own, (one) => !isParallel(fileKey(one))),
        bytes: sum(parts.flatMap(({ sessions }) => sessions.map((each) => each.bandwidthBytes ?? each.observedBytes))),
        workers: largest(own.map(({ slots }) => slots.length)),
        shards: parts.length,
        wallMs: largest(own.map(({ from, until }) => until - from)),
        browserMs: sum(parts.map(browserMsOf)),
      };
    }),
  };
}

/** The groups that Playwright would make of the tests. @param tests in the order of its queue */
function groupsOf(
  tests: readonly Pick<ObservedTry, 'project' | 'file' | 'line'>[],
  projects: readonly string[],
  isParallel: (key: string) => boolean,
): TestGroup[] {
  const indexes = tests.map((_, n) => n);
  const key = (n: number) => {
    const test = tests[n];
    const file = test ? fileKey(test) : '';
    return isParallel(file) ? `${file} ${n}` : file;
  };
  return [...grouped(indexes, key).values()].map((own) => {
    const [first = 0] = own;
    return { project: projects.indexOf(tests[first]?.project ?? ''), file: tests[first]?.file ?? '', tests: own };
  });
}

function modeOf(modes: Map<string, FileMode>, fullyParallel: boolean | null) {
  if (fullyParallel !== null) return { isParallel: () => fullyParallel, modeSource: 'given' as const };
  const seen = [...modes.values()];
  const known = seen.some((mode) => mode !== 'unknown');
  // An unclear file is treated like the clear ones; without any, like Playwright's default.
  const unknown = seen.includes('parallel') && !seen.includes('sequential');
  const isParallel = (key: string) => {
    const mode = modes.get(key) ?? 'unknown';
    return mode === 'unknown' ? unknown : mode === 'parallel';
  };
  return { isParallel, modeSource: known ? ('seen' as const) : ('assumed' as const) };
}

function triesOf(parts: readonly ObservedPart[]): Map<string, Try[]> {
  // A setup project ran in every shard. One of them is enough.
  const last = new Map(parts.flatMap(({ tries }) => tries.map((one) => [`${one.id} ${one.retry}`, one])));
  const byTest = grouped(last.values(), ({ id }) => id);
  return new Map(
    [...byTest].map(([id, own]) => {
      const ordered = own.sort((a, b) => a.retry - b.retry);
      return [id, ordered.map(({ ownMs, failed }) => ({ ms: ownMs, failed }))];
    }),
  );
}

function largestPhase(groups: readonly TestGroup[], phases: readonly number[]): number {
  const sizes = new Map<number, number>();
  for (const { project, tests } of groups) {
    const phase = phases[project] ?? 0;
    sizes.set(phase, (sizes.get(phase) ?? 0) + tests.length);
  }
  return [...sizes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

function browserMsOf({ sessions, endedAt }: RunRecord): number {
  return sum(
    sessions.map((session) => {
      const end = session.endedAt ?? endedAt;
      return end === null ? 0 : Math.max(0, Date.parse(end) - Date.parse(session.startedAt));
    }),
  );
}
