import type { FullConfig, FullProject, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import type { RemainingParams } from '../broker/rpc/messages/protocol.ts';
import { projectIds } from '../options/project-ids.ts';
import { keyOf } from '../record/test-record.ts';

/** What all repetitions of a file share. */
interface TestFile {
  /** Whether one worker runs its tests in sequence: until two of them run at once, unless all are fully parallel. */
  inSequence: boolean;
}

/** The tests of one file, and of one repetition of it with `--repeat-each`. */
interface Group {
  file: TestFile;
  /** IDs of the tests that have not begun or will be retried. */
  waiting: Set<string>;
  /** The running attempts by test ID: each one's key, see `keyOf`, and `parallelIndex`. */
  running: Map<string, { key: string; slot: number }>;
}

/** Tracks which tests remain in each project. The broker receives this state. */
export class RemainingTests {
  readonly #projects: { id: string; groups: Group[] }[];
  readonly #byTest = new Map<string, Group>();

  constructor(config: FullConfig, suite: Suite) {
    this.#projects = projectsOf(config, suite).map(({ id, project, files }) => {
      const inSequence = !isFullyParallel(config, project);
      return { id, groups: files.flatMap((file) => this.#groupsOf(file, inSequence)) };
    });
  }

  /** A test begins in a worker, or is skipped without one. */
  began({ id }: TestCase, { parallelIndex, retry }: TestResult): void {
    const group = this.#byTest.get(id);
    if (!group) return;
    group.waiting.delete(id);
    if (parallelIndex >= 0) group.running.set(id, { key: keyOf({ id, retry }), slot: parallelIndex });
    if (group.running.size > 1) group.file.inSequence = false;
  }

  ended({ id, expectedStatus, retries }: TestCase, { status, retry }: TestResult): void {
    const group = this.#byTest.get(id);
    group?.running.delete(id);
    const hasFailed = status !== expectedStatus && status !== 'skipped' && status !== 'interrupted';
    if (hasFailed && retry < retries) group?.waiting.add(id);
  }

  get state(): RemainingParams['projects'] {
    return this.#projects.map(({ id, groups }) => ({
      project: id,
      atOnce: groups.reduce((sum, { file, waiting, running }) => {
        const unfinished = waiting.size + running.size;
        return sum + (file.inSequence ? Math.min(1, unfinished) : unfinished);
      }, 0),
      running: groups.flatMap(({ running }) => [...running.values()].map(({ slot }) => slot)),
      followed: groups.flatMap(({ file, waiting, running }) =>
        file.inSequence && waiting.size > 0 ? [...running.values()].map(({ key }) => key) : [],
      ),
    }));
  }

  #groupsOf(suite: Suite, inSequence: boolean): Group[] {
    const file = { inSequence };
    return repetitionsOf(suite).map((tests) => {
      const group = { file, waiting: new Set(tests.map(({ id }) => id)), running: new Map() };
      for (const { id } of tests) this.#byTest.set(id, group);
      return group;
    });
  }
}

/**
 * The projects of the workers that Playwright starts first, one ID per worker: as many as `config.workers`, but not
 * more than there are files. One worker may run all tests of a file (serial mode), and one browser too few is better
 * than an unused one.
 */
export function firstWorkers(config: FullConfig, suite: Suite): string[] {
  const first = projectsOf(config, suite).flatMap(({ id, project, files }) => {
    // A project with dependencies begins after them.
    if (project.dependencies.length > 0) return [];
    return files
      .flatMap(repetitionsOf)
      .slice(0, workersOf(project))
      .map(() => id);
  });
  return first.slice(0, config.workers);
}

/** The projects of the run, with their IDs at the broker. */
function projectsOf({ projects }: FullConfig, { suites }: Suite) {
  const ids = projectIds(projects.map(({ name }) => name));
  return suites.flatMap((suite) => {
    const project = suite.project();
    return project ? [{ id: ids[projects.indexOf(project)] ?? project.name, project, files: suite.suites }] : [];
  });
}

/** The tests of a file that are not skipped, by repetition: each has its own workers. */
function repetitionsOf(file: Suite): TestCase[][] {
  const repetitions = new Map<number, TestCase[]>();
  for (const test of file.allTests()) {
    if (test.expectedStatus === 'skipped') continue;
    repetitions.set(test.repeatEachIndex, [...(repetitions.get(test.repeatEachIndex) ?? []), test]);
  }
  return [...repetitions.values()];
}

function isFullyParallel(config: FullConfig, project: FullProject): boolean {
  return config.fullyParallel || ('fullyParallel' in project && project.fullyParallel === true);
}

/** A project may have its own limit (Playwright ≥ 1.52). */
function workersOf(project: FullProject): number {
  const limit: unknown = 'workers' in project ? project.workers : undefined;
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}
