import { expect, test } from '@playwright/test';
import type { FullConfig, FullProject, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { firstWorkers, RemainingTests } from '../../../src/report/remaining-tests.ts';

/** The remaining tests that are reported to the broker, from the events of Playwright's reporters. */

interface Given {
  name: string;
  dependencies?: string[];
  /** The project's own limit. */
  workers?: number;
  fullyParallel?: boolean;
  /** Test IDs of each file, the ones after a `|` in a second repetition; `-` marks one that is skipped. */
  files: string[];
  retries?: number;
}

/** A run of these projects, and its tests by ID. */
function runOf(given: Given[], more: Partial<FullConfig> = {}) {
  const tests = new Map<string, TestCase>();
  const projects = given.map(
    ({ files: _, ...project }) => ({ dependencies: [], ...project }) as unknown as FullProject,
  );
  const suites = given.map(({ files, retries = 0 }, n) => {
    const suites = files.map((file) => {
      const all = file.split('|').flatMap((ids, repeatEachIndex) =>
        [...ids.matchAll(/-?\w/g)].map(([id]) => {
          const expectedStatus = id.startsWith('-') ? 'skipped' : 'passed';
          const one = { id, retries, repeatEachIndex, expectedStatus } as TestCase;
          tests.set(id, one);
          return one;
        }),
      );
      return { allTests: () => all } as Suite;
    });
    return { project: () => projects[n], suites } as Suite;
  });
  const config = { projects, fullyParallel: false, workers: 4, ...more } as FullConfig;
  const suite = { suites } as Suite;
  const remaining = new RemainingTests(config, suite);
  const resultOf = (more: Partial<TestResult>) => ({ parallelIndex: 0, retry: 0, status: 'passed', ...more });
  return {
    first: firstWorkers(config, suite),
    began: (id: string, more: Partial<TestResult> = {}) =>
      remaining.began(tests.get(id) as TestCase, resultOf(more) as TestResult),
    ended: (id: string, status: TestResult['status'] = 'passed', retry = 0) =>
      remaining.ended(tests.get(id) as TestCase, resultOf({ status, retry }) as TestResult),
    of: (name: string) => remaining.state.find(({ project }) => project === name),
  };
}

test('counts a file until its last test ends, and says which running tests another one follows in their worker', () => {
  const run = runOf([{ name: 'us', files: ['ab', 'c'] }]);
  expect(run.of('us')).toMatchObject({ atOnce: 2, followed: [] });
  run.began('a');
  run.began('c', { parallelIndex: 1 });
  expect(run.of('us')).toMatchObject({ atOnce: 2, running: [0, 1], followed: ['a 0'] });
  run.ended('a');
  run.ended('c');
  expect(run.of('us')).toMatchObject({ atOnce: 1, running: [], followed: [] });
  run.began('b');
  expect(run.of('us')).toMatchObject({ atOnce: 1, followed: [] });
  run.ended('b');
  expect(run.of('us')).toMatchObject({ atOnce: 0 });
});

test('gives the rest of a file to another worker when a test fails, and counts its retry', () => {
  const run = runOf([{ name: 'us', files: ['a'], retries: 1 }]);
  run.began('a');
  run.ended('a', 'failed');
  expect(run.of('us')).toMatchObject({ atOnce: 1, followed: [] });
  run.began('a', { retry: 1 });
  run.ended('a', 'failed', 1);
  expect(run.of('us')).toMatchObject({ atOnce: 0 });
});

test('does not count skipped tests, nor the retry of an interrupted one', () => {
  const run = runOf([{ name: 'us', files: ['a', '-b', 'c', 'd'], retries: 1 }]);
  expect(run.of('us')).toMatchObject({ atOnce: 3 });
  run.began('a');
  run.ended('a', 'interrupted');
  // Without a worker.
  run.began('c', { parallelIndex: -1 });
  run.ended('c', 'skipped');
  // While it runs.
  run.began('d');
  run.ended('d', 'skipped');
  expect(run.of('us')).toMatchObject({ atOnce: 0, followed: [] });
});

test('counts each test that any worker may run: of a parallel project, and of a file of which two run at once', () => {
  const run = runOf([
    { name: 'us', files: ['ab'], fullyParallel: true },
    { name: 'de', files: ['cde|fg'] },
  ]);
  run.began('a');
  expect(run.of('us')).toMatchObject({ atOnce: 2, followed: [] });
  run.began('c', { parallelIndex: 1 });
  expect(run.of('de')).toMatchObject({ atOnce: 2, followed: ['c 0'] });
  run.began('d', { parallelIndex: 2 });
  // The file's repetitions run as it does.
  expect(run.of('de')).toMatchObject({ atOnce: 5, followed: [] });
});

const FIRST: [name: string, given: Given[], workers: number, first: string[]][] = [
  ['one for each file and repetition', [{ name: 'us', files: ['ab', 'c|d'] }], 4, ['us', 'us', 'us']],
  ['one for a file whose tests may be serial', [{ name: 'us', files: ['ab'], fullyParallel: true }], 4, ['us']],
  ['as many as the run has workers', [{ name: 'us', files: ['a', 'b', 'c'] }], 2, ['us', 'us']],
  ['as many as the project may have', [{ name: 'us', files: ['a', 'b', 'c'], workers: 1 }], 4, ['us']],
  ['none for a file whose tests are skipped', [{ name: 'us', files: ['-a', 'b'] }], 4, ['us']],
  [
    'none for a project that waits for others',
    [
      { name: 'login', files: ['a'] },
      { name: 'us', dependencies: ['login'], files: ['b'] },
    ],
    4,
    ['login'],
  ],
];
for (const [name, given, workers, first] of FIRST) {
  test(`the first workers: ${name}`, () => {
    expect(runOf(given, { workers }).first).toEqual(first);
  });
}
