import type { FullConfig, Suite, TestCase } from '@playwright/test/reporter';
import { largest } from '../../common/numbers/extremes.ts';
import { projectIds } from '../../options/project-ids.ts';
import type { WholeSuite } from '../feature.ts';
import type { PartitionOptions, Repeated } from './partition.ts';
import { neededBy, type SuiteTest, type SuiteTests, testsOf } from './suite-tests.ts';
import { compareTexts, inserted } from './test-tree.ts';
import type { Timings } from './timings-file.ts';

/** Tests of a suite that stay together. */
export interface SuitePiece {
  project: string;
  tests: readonly SuiteTest[];
}

/** The tests of a whole suite, and which of them this shard has. */
export interface ShardedSuite {
  tests: SuiteTests;
  /** The pieces of this shard, if they are known. */
  pieces: readonly SuitePiece[];
  /** The timings that were found; null: none. */
  timings: Timings | null;
  /** Null: Playwright's own sharding. */
  assigned: Assigned | null;
}

interface Assigned {
  tests: ReadonlySet<TestCase>;
  /** Identifies the assignment of all tests to shards. */
  hash: string;
  timingsHash: string;
}

/** A suite that is not divided into shards. */
export function undividedSuite({ config, suite, testRun }: WholeSuite): ShardedSuite {
  const tests = testsOf(config, suite);
  const mode = testRun.mode ? (each: Suite) => testRun.mode?.(each) ?? 'default' : null;
  return { tests, pieces: piecesOf(tests.sharded, mode), timings: null, assigned: null };
}

/**
 * Splits tests like Playwright's test groups, as far as its public API shows them: a file, unless its tests are
 * parallel; a serial or default suite in a parallel one; a parallel test. The order of the pieces is the same on every
 * machine.
 * @param mode Playwright's mode of a suite, which it inherits (`testRun.mode()`); null: unknown, before 1.65
 */
function piecesOf(tests: readonly SuiteTest[], mode: ((suite: Suite) => string) | null): SuitePiece[] {
  const groups = new Map<Suite | SuiteTest, SuiteTest[]>();
  for (const one of tests) inserted(groups, mode ? groupOf(one, mode) : one.file, () => []).push(one);
  const pieces = [...groups.values()].map((all) => ({ tests: all, key: pieceKey(all) }));
  return pieces
    .sort((one, other) => compareTexts(one.key, other.key))
    .map(({ tests: all }) => ({ tests: all, project: all[0]?.key.project ?? '' }));
}

/**
 * By ID of a project, what each shard with a test of it runs in addition.
 * @param ms how long a test takes
 */
export function needsOf(
  config: FullConfig,
  repeated: readonly SuiteTest[],
  workers: number,
  ms: (one: SuiteTest) => number,
): PartitionOptions['needs'] {
  const ids = projectIds(config.projects.map(({ name }) => name));
  const byProject = new Map<string, Map<string, number>>();
  for (const one of repeated) {
    const files = inserted(byProject, one.key.project, () => new Map<string, number>());
    files.set(one.key.file, (files.get(one.key.file) ?? 0) + ms(one));
  }
  const timed = (name: string): Repeated => {
    const files = [...(byProject.get(name)?.values() ?? [])];
    const sum = files.reduce((total, each) => total + each, 0);
    return { name, ms: largest(files, Math.ceil(sum / workers)) };
  };
  return new Map(config.projects.map((project, n) => [ids[n] ?? '', [...neededBy(project, config)].map(timed)]));
}

/** The group that a test stays in: its file, a suite in it, or only itself. */
function groupOf(one: SuiteTest, mode: (suite: Suite) => string): Suite | SuiteTest {
  const ancestors: Suite[] = [];
  for (let suite: Suite | undefined = one.test.parent; suite?.parent; suite = suite.parent) ancestors.unshift(suite);
  let isParallel = false;
  let inSequence: Suite | null = null;
  // A suite without a mode has that of its parent; the root has 'default'.
  let inherited = 'default';
  for (const suite of ancestors) {
    const suiteMode = mode(suite);
    if (suiteMode === 'parallel') isParallel = true;
    else if (suiteMode !== inherited) inSequence ??= suite;
    inherited = suiteMode;
  }
  if (!isParallel) return one.file;
  return inSequence ?? one;
}

function pieceKey([first]: readonly SuiteTest[]): string {
  const { project = '', file = '', title = '' } = first?.id ?? {};
  return [project, file, title].join('\0');
}
