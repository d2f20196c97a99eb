import type { FullConfig, FullProject, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import type { RemainingParams } from '../broker/rpc/messages/protocol.ts';
import { projectIds } from '../options/project-ids.ts';
import { ATTACHMENT_NAME, keyOf } from '../record/test-record.ts';
import { type TestFile, testFile } from './test-files.ts';

type Remaining = RemainingParams['projects'];

/** Tests of a file: those that one worker runs in sequence, or those that any worker may run. */
interface Group extends Pick<TestFile, 'usesBrowser' | 'inSequence' | 'isSerial'> {
  project: Project;
  /** IDs of the tests that have not begun or will be retried. */
  waiting: Set<string>;
  /** IDs of the tests that certainly open a context when they run. */
  certainlyOpen: Set<string>;
  /** The running tests, with their try and slot. */
  running: Map<string, { slot: number; test: string }>;
  /** The slot of its worker, if one worker runs it; null: no worker has it. */
  slot: number | null;
  /** The try that began last; null: none has begun. */
  last: string | null;
}

interface Project {
  id: string;
  name: string;
  /** Names of its dependencies. */
  after: readonly string[];
  /** IDs of the sessions that finished tests have used. */
  sessions: Set<string>;
  groups: Group[];
}

/** Tracks which tests on hosted browsers remain, and which workers run their groups. The broker receives this state. */
export class RemainingTests {
  readonly #projects: Project[] = [];
  readonly #byTest = new Map<string, Group>();
  #failures = 0;

  readonly #config: FullConfig;

  constructor(config: FullConfig, suite: Suite) {
    this.#config = config;
    const ids = projectIds(config.projects.map(({ name }) => name));
    for (const projectSuite of suite.suites) {
      const project = projectSuite.project();
      if (!project) continue;
      const { name, dependencies } = project;
      const id = ids[config.projects.indexOf(project)] ?? name;
      const own = { id, name, after: dependencies, sessions: new Set<string>(), groups: [] };
      this.#projects.push(own);
      for (const file of projectSuite.suites) this.#add(own, project, file);
    }
  }

  /** A test begins in a worker, or is skipped without one. */
  began(test: TestCase, { parallelIndex, retry }: TestResult): void {
    const group = this.#byTest.get(test.id);
    if (!group) return;
    group.waiting.delete(test.id);
    if (parallelIndex < 0) return;
    group.slot = parallelIndex;
    group.last = keyOf({ id: test.id, retry });
    group.running.set(test.id, { slot: group.slot, test: group.last });
  }

  ended(test: TestCase, { status, retry }: TestResult): void {
    const group = this.#byTest.get(test.id);
    if (!group) return;
    const hasFailed = status !== test.expectedStatus && status !== 'skipped';
    if (hasFailed && retry >= test.retries) this.#failed(test);
    for (const { type, description } of test.annotations)
      if (type === ATTACHMENT_NAME && description) group.project.sessions.add(description);
    group.running.delete(test.id);
    if (hasFailed && retry < test.retries && status !== 'interrupted') group.waiting.add(test.id);
    // Playwright replaces the worker of a failed test.
    if (hasFailed || group.waiting.size === 0) group.slot = null;
  }

  /** The current state. */
  get state(): Remaining {
    const all = this.#projects.flatMap(({ groups }) => groups);
    const { maxFailures } = this.#config;
    const unfinished = sum(all, ({ waiting, running }) => waiting.size + running.size);
    // How many tests would not run if every test failed from now on.
    const cutOff = maxFailures > 0 ? Math.max(0, unfinished - (maxFailures - this.#failures)) : 0;
    return this.#projects.map((project) => {
      const groups = project.groups.filter(({ usesBrowser }) => usesBrowser);
      const mayRun = !this.#waitsForOthers(project);
      const certain = mayRun ? sum(groups, certainCount) : 0;
      const opening = sum(groups, ({ running, certainlyOpen }) => count(running.keys(), certainlyOpen));
      return {
        project: project.id,
        waiting: sum(groups, ({ waiting }) => waiting.size),
        certain: Math.max(0, certain - cutOff),
        groups: sum(groups, ({ inSequence, waiting, slot }) =>
          inSequence ? Number(waiting.size > 0 && slot === null) : waiting.size,
        ),
        asks: project.sessions.size + Math.max(0, opening + certain - cutOff),
        running: groups.flatMap((group) => slotsOf(group, cutOff === 0)),
      };
    });
  }

  #add(project: Project, full: FullProject, file: Suite): void {
    const { usesBrowser, inSequence, isSerial, certainlyOpens } = testFile(file, full, this.#config);
    // With `--repeat-each`, each repetition has its own workers.
    const repetitions = new Map<number, Group>();
    for (const test of file.allTests()) {
      if (test.expectedStatus === 'skipped') continue;
      const known = repetitions.get(test.repeatEachIndex);
      const group = known ?? {
        ...{ project, usesBrowser, inSequence, isSerial, waiting: new Set(), certainlyOpen: new Set() },
        ...{ running: new Map(), slot: null, last: null },
      };
      if (!known) project.groups.push(group);
      repetitions.set(test.repeatEachIndex, group);
      group.waiting.add(test.id);
      if (certainlyOpens(test)) group.certainlyOpen.add(test.id);
      this.#byTest.set(test.id, group);
    }
  }

  /** Whether a dependency of the project has not ended. */
  #waitsForOthers({ after }: Project): boolean {
    return this.#projects.some(
      ({ name, groups }) =>
        after.includes(name) && groups.some(({ waiting, running }) => waiting.size + running.size > 0),
    );
  }

  /** After `maxFailures`, Playwright starts no more tests; after a failure, none of the projects that depend on it. */
  #failed(test: TestCase): void {
    this.#failures += 1;
    const { maxFailures } = this.#config;
    const isOver = maxFailures > 0 && this.#failures >= maxFailures;
    const lost = new Set([test.parent.project()?.name]);
    for (let before = 0; before < lost.size; ) {
      before = lost.size;
      for (const { name, after } of this.#projects) if (after.some((each) => lost.has(each))) lost.add(name);
    }
    for (const { name, after, groups } of this.#projects) {
      const never = isOver || (lost.has(name) && after.some((each) => lost.has(each)));
      if (never) for (const group of groups) group.waiting.clear();
    }
  }
}

/**
 * How many waiting tests of a group will certainly begin and open a context, regardless of the others' results. In
 * serial mode, a failed test prevents the following ones.
 */
function certainCount({ isSerial, waiting, certainlyOpen, last }: Group): number {
  if (!isSerial) return count(waiting, certainlyOpen);
  return last === null ? count([...waiting].slice(0, 1), certainlyOpen) : 0;
}

/** The slots of a group's tests. @param allBegin whether all tests will begin, even after failures */
function slotsOf(group: Group, allBegin: boolean): Remaining[number]['running'] {
  const { inSequence, running, slot, waiting, last } = group;
  if (!inSequence) return [...running.values()].map((each) => ({ ...each, goesOn: false, asks: false }));
  if (slot === null || last === null) return [];
  return [{ slot, test: last, goesOn: waiting.size > 0, asks: allBegin && certainCount(group) > 0 }];
}

function count(ids: Iterable<string>, among: ReadonlySet<string>): number {
  return [...ids].filter((id) => among.has(id)).length;
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

/**
 * The projects of the workers that Playwright starts first, one ID per worker: as many as there are test groups, but at
 * most `config.workers`. One worker runs a group in sequence. A file whose number of groups is unknown counts as one
 * group: one browser too few is better than an unused one.
 */
export function firstWorkers(config: FullConfig, suite: Suite): string[] {
  const ids = projectIds(config.projects.map(({ name }) => name));
  const first: string[] = [];
  for (const projectSuite of suite.suites) {
    const project = projectSuite.project();
    // A project with dependencies begins after them.
    if (!project || project.dependencies.length > 0) continue;
    let groups = 0;
    for (const file of projectSuite.suites) groups += groupsOf(file, project, config);
    for (let n = 0; n < Math.min(groups, workersOf(project)); n += 1)
      first.push(ids[config.projects.indexOf(project)] ?? project.name);
  }
  return first.slice(0, config.workers);
}

/** A project may have its own limit (Playwright ≥ 1.52). */
function workersOf(project: FullProject): number {
  const own: unknown = 'workers' in project ? project.workers : undefined;
  return typeof own === 'number' ? own : Number.POSITIVE_INFINITY;
}

function groupsOf(file: Suite, project: FullProject, config: FullConfig): number {
  const tests = file.allTests().filter((test) => test.expectedStatus !== 'skipped');
  if (tests.length === 0) return 0;
  const { usesBrowser, oneByOne } = testFile(file, project, config);
  if (!usesBrowser) return 0;
  return oneByOne ? tests.length : 1;
}
