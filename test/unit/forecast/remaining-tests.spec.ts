import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { FullConfig, FullProject, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { RemainingTests } from '../../../src/forecast/remaining-tests.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';

/** The remaining tests that are reported to the broker, from the events of Playwright's reporters. */

const PAGE = `import { test } from '@playwright/test';\ntest('a', async ({ page }) => {});\n`;

interface Given {
  name: string;
  dependencies?: string[];
  /** Source and test IDs of each file; `repeat`: the repetition they belong to. */
  files: { source?: string; tests: string[]; retries?: number; repeat?: number }[];
}

/** A run of these projects, and its tests by ID. */
async function runOf(directory: string, given: Given[], more: Partial<FullConfig> = {}) {
  const tests = new Map<string, TestCase>();
  const projects = given.map(({ name, dependencies = [] }) => ({ name, dependencies }) as unknown as FullProject);
  const suites = await Promise.all(
    given.map(async ({ files }, n) => {
      const project = () => projects[n];
      const suites = await Promise.all(
        files.map(async ({ source = PAGE, tests: ids, retries = 0, repeat = 0 }, number) => {
          const file = join(directory, `${n}-${number}.spec.ts`);
          await writeFile(file, source);
          const all = ids.map((id) => {
            const parent = { project };
            const one = {
              id,
              retries,
              repeatEachIndex: repeat,
              expectedStatus: 'passed',
              annotations: [],
              location: { file, line: source.split('\n').findIndex((line) => line.startsWith('test(')) + 1, column: 1 },
              parent,
            } as unknown as TestCase;
            tests.set(id, one);
            return one;
          });
          return { location: { file, line: 0, column: 0 }, allTests: () => all } as unknown as Suite;
        }),
      );
      return { project, suites } as unknown as Suite;
    }),
  );
  const config = { projects, fullyParallel: false, maxFailures: 0, ...more } as FullConfig;
  const remaining = new RemainingTests(config, { suites } as unknown as Suite);
  const result = (more: Partial<TestResult>) =>
    ({ parallelIndex: 0, retry: 0, status: 'passed', ...more }) as TestResult;
  return {
    began: (id: string, slot = 0) => remaining.began(tests.get(id) as TestCase, result({ parallelIndex: slot })),
    /** The test has used this session. */
    used: (id: string, sessionId: string) =>
      void tests.get(id)?.annotations.push({ type: 'hosted-browser', description: sessionId }),
    ended: (id: string, status: TestResult['status'] = 'passed', retry = 0) =>
      remaining.ended(tests.get(id) as TestCase, result({ status, retry })),
    of: (name: string) => remaining.state.find(({ project }) => project === name),
  };
}

test('counts the tests of a file as one group, which stays with its worker until its last test ends', async ({
  directory,
}) => {
  const run = await runOf(directory, [{ name: 'us', files: [{ tests: ['a', 'b'] }, { tests: ['c'] }] }]);
  expect(run.of('us')).toMatchObject({ waiting: 3, groups: 2, running: [] });
  run.began('a', 1);
  expect(run.of('us')).toMatchObject({ waiting: 2, groups: 1, running: [{ slot: 1, goesOn: true }] });
  run.ended('a');
  expect(run.of('us')).toMatchObject({ groups: 1, running: [{ slot: 1, goesOn: true }] });
  run.began('b', 1);
  expect(run.of('us')).toMatchObject({ waiting: 1, running: [{ slot: 1, goesOn: false }] });
  run.ended('b');
  expect(run.of('us')).toMatchObject({ waiting: 1, groups: 1, running: [] });
});

test('gives the rest of a file to another worker when a test fails, and counts its retry', async ({ directory }) => {
  const run = await runOf(directory, [{ name: 'us', files: [{ tests: ['a', 'b'], retries: 1 }] }]);
  run.began('a');
  run.ended('a', 'failed');
  expect(run.of('us')).toMatchObject({ waiting: 2, groups: 1, running: [] });
  run.began('a');
  run.ended('a', 'failed', 1);
  expect(run.of('us')).toMatchObject({ waiting: 1, groups: 1 });
});

test('counts each test of a file that may run in parallel as a group, and each repetition of a file', async ({
  directory,
}) => {
  const source = `${PAGE}test.describe.configure({ mode: 'parallel' });`;
  const run = await runOf(directory, [
    { name: 'us', files: [{ source, tests: ['a', 'b'] }] },
    { name: 'de', files: [{ tests: ['c'] }, { tests: ['d'], repeat: 1 }] },
  ]);
  expect(run.of('us')).toMatchObject({ groups: 2 });
  run.began('a', 3);
  expect(run.of('us')).toMatchObject({ groups: 1, running: [{ slot: 3, goesOn: false }] });
  expect(run.of('de')).toMatchObject({ groups: 2 });
});

test('does not count tests that will not run', async ({ directory }) => {
  const none = `import { test } from '@playwright/test';\ntest('a', () => {});\n`;
  const run = await runOf(directory, [
    { name: 'setup', files: [{ tests: ['login'] }] },
    { name: 'us', dependencies: ['setup'], files: [{ tests: ['a'] }, { source: none, tests: ['b'] }] },
    { name: 'later', dependencies: ['us'], files: [{ tests: ['c'] }] },
    { name: 'other', files: [{ tests: ['d', 'e', 'f'] }] },
  ]);
  expect(run.of('us')).toMatchObject({ waiting: 1 });
  run.began('login');
  run.ended('login', 'failed');
  // Playwright runs no project whose dependency failed.
  expect([run.of('us'), run.of('later'), run.of('other')].map((each) => each?.waiting)).toEqual([0, 0, 3]);
  // A skipped test has no worker.
  run.began('d', -1);
  run.ended('d', 'skipped');
  expect(run.of('other')).toMatchObject({ waiting: 2, running: [] });
});

test('counts none after `maxFailures` failures', async ({ directory }) => {
  const run = await runOf(directory, [{ name: 'us', files: [{ tests: ['a'] }, { tests: ['b'] }] }], { maxFailures: 1 });
  run.began('a');
  run.ended('a', 'timedOut');
  expect(run.of('us')).toMatchObject({ waiting: 0, groups: 0 });
});

test('counts the browsers that tests will certainly request: one per try, and the used ones of finished tests', async ({
  directory,
}) => {
  const own = "import { test } from './own';\ntest('a', async ({ own }) => {});\n";
  const run = await runOf(directory, [
    {
      name: 'us',
      files: [
        { tests: ['a', 'b'], retries: 1 },
        { source: own, tests: ['c'] },
      ],
    },
    { name: 'later', dependencies: ['us'], files: [{ tests: ['d'] }] },
  ]);
  expect(run.of('us')).toMatchObject({ waiting: 3, certain: 2, asks: 2 });
  // It does not run if one of the others fails.
  expect(run.of('later')).toMatchObject({ waiting: 1, certain: 0, asks: 0 });
  run.began('a');
  expect(run.of('us')).toMatchObject({ certain: 1, asks: 2, running: [{ test: 'a 0', goesOn: true, asks: true }] });
  run.used('a', 's-1');
  run.ended('a', 'failed');
  expect(run.of('us')).toMatchObject({ certain: 2, asks: 3 });
  run.began('c', 1);
  run.used('c', 's-2');
  run.ended('c');
  expect(run.of('us')).toMatchObject({ asks: 4 });
});

test('does not count a test as certain when an earlier failure may prevent it', async ({ directory }) => {
  const serial = `${PAGE}test.describe.configure({ mode: 'serial' });`;
  const run = await runOf(directory, [{ name: 'us', files: [{ source: serial, tests: ['a', 'b'] }] }]);
  expect(run.of('us')).toMatchObject({ waiting: 2, certain: 1, asks: 1 });
  run.began('a');
  expect(run.of('us')).toMatchObject({ waiting: 1, certain: 0, asks: 1, running: [{ goesOn: true, asks: false }] });
  const bounded = await runOf(directory, [{ name: 'us', files: [{ tests: ['c', 'd', 'e'] }] }], { maxFailures: 2 });
  expect(bounded.of('us')).toMatchObject({ waiting: 3, asks: 2 });
  bounded.began('c');
  bounded.ended('c');
  expect(bounded.of('us')).toMatchObject({ waiting: 2, asks: 2 });
});

test('does not retry an interrupted test', async ({ directory }) => {
  const files = [{ tests: ['a'] }, { tests: ['b'], retries: 1 }];
  const run = await runOf(directory, [{ name: 'us', files }], { maxFailures: 1 });
  run.began('a');
  run.began('b', 1);
  run.ended('a', 'failed');
  run.ended('b', 'interrupted');
  expect(run.of('us')).toMatchObject({ waiting: 0, running: [] });
});

/** Which tests certainly open a context, by their source. */
const OPENS: [source: string, opens: boolean][] = [
  ["test('a', async ({ page }) => {});", true],
  ["test('a', { tag: '@x' }, async ({ request, context: c }, { retry }) => {});", true],
  ["test('a', async function ({ page }) {});", true],
  ["test('a', async ({ browser }) => { await (await browser.newContext()).close(); });", true],
  ["test('a', async ({ browser }) => { browser.version(); });", false],
  ["test('a', async () => {});\ntest('b', async ({ page }) => {});", false],
  ["test('a', async ({ loginPage }) => {});", false],
  ["test('a', async ({ page }) => {});\ntest.beforeEach(() => { test.skip(slow); });", false],
  ["test('a', async ({ page }) => {});\ntest.skip(({ browserName }) => browserName === 'x', '');", false],
  ["test('a', async ({ page }) => {});\ntest.beforeEach(() => {});\ntest.skip('b', () => {});", true],
  [
    "test('a', async ({ page }) => {});\ntest.beforeAll(async ({ browser }) => { shared = await browser.newPage(); });",
    false,
  ],
  ["test('a', async ({ page }) => {});\ntest.use({ hosted: { pool: 'x' } });", false],
];
for (const [source, opens] of OPENS) {
  test(`${opens ? 'is' : 'is not'} certain that this opens a context: ${source.replaceAll('\n', ' ')}`, async ({
    directory,
  }) => {
    const run = await runOf(directory, [{ name: 'us', files: [{ source, tests: ['a'] }] }]);
    expect(run.of('us')).toMatchObject({ certain: Number(opens) });
  });
}
