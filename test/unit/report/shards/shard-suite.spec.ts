import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import fc from 'fast-check';
import { shardSuite } from '../../../../src/report/shards/shard-suite.ts';
import { testsOf } from '../../../../src/report/shards/suite-tests.ts';
import { ByTest, shownTest } from '../../../../src/report/shards/test-tree.ts';
import { timingsText } from '../../../../src/report/shards/timings-file.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { type Entry, type FakeProject, fakeSuite } from '../../../support/unit/fake-suite.ts';
import { test } from '../../../support/unit/reporter-fixtures.ts';

/** Which tests a shard gets, without Playwright. test/e2e/runs/balanced-shards.spec.ts has the same with it. */

test.beforeEach(() => {
  delete process.env.CI;
});

interface Timed {
  workers: number;
  browsers?: number | null;
  tests: readonly [project: string, file: string, title: string, ms: number][];
}

function writeTimings(directory: string, { workers, browsers = null, tests }: Timed): void {
  const byTest = new ByTest<readonly number[]>();
  for (const [project, file, title, ms] of tests) byTest.set({ project, file, title }, [ms]);
  const text = timingsText({ workers, projectWorkers: {}, browsers, tests: byTest });
  writeFileSync(join(directory, 'poolwright-timings.json'), text);
}

/** The tests of each shard, by their IDs. */
function shardsOf(directory: string, projects: readonly FakeProject[], total: number) {
  return Array.from({ length: total }, (_, n) => {
    const whole = fakeSuite(directory, projects, { current: n + 1, total });
    const before = testsOf(whole.config, whole.suite).sharded;
    const { assigned } = shardSuite(whole, {});
    assert.equal(whole.sharded(), true);
    const left = new Set(whole.suite.allTests());
    const tests = before.filter((one) => left.has(one.test)).map(({ id }) => shownTest(id));
    // Playwright leaves out the setup projects that no project needs.
    return { hash: assigned?.hash, tests, repeated: testsOf(whole.config, whole.suite).repeated };
  });
}

const ANY: Timed = { workers: 1, tests: [['', 'a.spec.ts', 'any', 100]] };

test('shards › have each test exactly once, in whatever order the files are read', async ({ directory, stderrOf }) => {
  const mode = fc.constantFrom('default', 'serial', 'parallel', undefined);
  const { entries } = fc.letrec<{ entries: Entry[]; entry: Entry }>((tie) => ({
    entries: fc.uniqueArray(tie('entry'), {
      maxLength: 5,
      selector: (each) => (typeof each === 'string' ? each : each.title),
    }),
    entry: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom('1', '10', '9', 'a', '__proto__', 'b › c', 'é', 'constructor'),
      fc.record({ title: fc.constantFrom('b', 'd', 'e', '2'), mode, entries: tie('entries') }) as fc.Arbitrary<Entry>,
    ),
  }));
  const files = fc.dictionary(fc.constantFrom('a.spec.ts', 'b.spec.ts', 'sub/c.spec.ts', 'ä.spec.ts'), entries);
  const project = fc.record({ fullyParallel: fc.boolean(), repeatEach: fc.integer({ min: 1, max: 3 }), files });
  const suite = fc.record({
    projects: fc.array(project, { minLength: 1, maxLength: 3 }),
    total: fc.integer({ min: 2, max: 9 }),
    workers: fc.integer({ min: 1, max: 4 }),
    ms: fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 8 }),
  });
  const property = fc.property(suite, ({ projects: given, total, workers, ms }) => {
    const projects = given.map((each, n) => ({ ...each, name: `p${n % 2}`, dependencies: n === 2 ? ['setup'] : [] }));
    const setup = { name: 'setup', files: { 'setup.ts': ['sets up'] } };
    const all = [setup, ...projects];
    const whole = fakeSuite(directory, all, null);
    const tests = testsOf(whole.config, whole.suite);
    const timed = tests.sharded.map(({ key }, n): Timed['tests'][number] => {
      return [key.project, key.file, key.title, ms[n % ms.length] ?? 0];
    });
    writeTimings(directory, { workers, tests: [...timed.filter((_, n) => n % 3 !== 0), ...ANY.tests] });
    const shards = shardsOf(directory, all, total);
    const expected = tests.sharded.map(({ id }) => shownTest(id)).sort();
    assert.equal(new Set(expected).size, expected.length);
    assert.deepEqual(shards.flatMap((shard) => shard.tests).sort(), expected);
    assert.equal(new Set(shards.map(({ hash }) => hash)).size, 1);
    const turned = all.map((each) => ({ ...each, files: Object.fromEntries(Object.entries(each.files).reverse()) }));
    const again = shardsOf(directory, turned, total);
    assert.deepEqual(
      again.map((shard) => shard.tests.sort()),
      shards.map((shard) => shard.tests.sort()),
    );
  });
  await stderrOf(() => fc.assert(property, propertyRuns(300)));
});

test('shards › have each test exactly once, though one is skipped on one machine only', async ({
  directory,
  stderrOf,
}) => {
  const names = ['a', 'b', 'c'];
  const tests = names.map((name): Timed['tests'][number] => [
    '',
    `${name}.spec.ts`,
    name,
    name === 'a' ? 9_000 : 4_000,
  ]);
  writeTimings(directory, { workers: 1, tests });
  const files = Object.fromEntries(names.map((name) => [`${name}.spec.ts`, [name]]));
  const ran: string[] = [];
  await stderrOf(() => {
    for (const current of [1, 2]) {
      const whole = fakeSuite(directory, [{ name: '', files }], { current, total: 2 });
      const [first] = whole.suite.allTests();
      if (first && current === 2) first.expectedStatus = 'skipped';
      shardSuite(whole, {});
      ran.push(...whole.suite.allTests().map(({ title }) => title));
    }
  });
  expect(ran.sort()).toEqual(names);
});

test('shards › keep together what one worker runs in order', async ({ directory, stderrOf }) => {
  writeTimings(directory, ANY);
  const four = ['a', 'b', 'c', 'd'];
  const projects: FakeProject[] = [
    { name: 'files', files: { 'a.spec.ts': four, 'b.spec.ts': [{ title: 'any', mode: 'parallel', entries: four }] } },
    {
      name: 'parallel',
      fullyParallel: true,
      files: {
        'a.spec.ts': four,
        'b.spec.ts': [
          { title: 'steps', mode: 'serial', entries: [{ title: 'in', mode: 'parallel', entries: four }] },
          { title: 'one by one', mode: 'default', entries: four },
        ],
      },
    },
  ];
  await stderrOf(() => {
    const shards = shardsOf(directory, projects, 13);
    const together = shards.map(({ tests }) => tests.map((each) => each.replace(/ › \w$/, '')));
    const pieces = [
      ['[files] › a.spec.ts', 4],
      ...four.map(() => ['[files] › b.spec.ts › any', 1]),
      ...four.map(() => ['[parallel] › a.spec.ts', 1]),
      ['[parallel] › b.spec.ts › one by one', 4],
      ['[parallel] › b.spec.ts › steps › in', 4],
    ];
    const found = together.filter((tests) => tests.length > 0).map((tests) => [tests[0], tests.length]);
    expect(found.sort()).toEqual(pieces.sort());
    // More shards than pieces.
    expect(together.filter((tests) => tests.length === 0)).toHaveLength(2);
  });
});

test('shards › are as long as each other, and have the setup projects that they need', async ({
  directory,
  stderrOf,
}) => {
  const names = Array.from({ length: 12 }, (_, n) => `${n}.spec.ts`);
  const tests = names.map((file, n): Timed['tests'][number] => ['p', file, 'a', n === 3 ? 6_000 : 1_000]);
  writeTimings(directory, { workers: 1, tests: [...tests, ['setup', 'setup.ts', 'a', 2_500]] });
  const projects: FakeProject[] = [
    { name: 'setup', files: { 'setup.ts': ['a'] } },
    { name: 'p', files: Object.fromEntries(names.map((name) => [name, ['a']])) },
    { name: 'needs', dependencies: ['setup'], files: { 'n.spec.ts': ['a', 'b'] } },
  ];
  const said = await stderrOf(() => {
    const shards = shardsOf(directory, projects, 3);
    const lengths = shards.map((shard) => shard.tests.length);
    // 6 s and 1 s; 2.5 s of setup and 5 s; 7 s.
    expect(lengths).toEqual([2, 5, 7]);
    expect(shards.map(({ repeated }) => repeated.length)).toEqual([0, 1, 0]);
  });
  expect(said).toContain(
    'shard 1/3: 2 of 14 tests, about 6.0 s on 2 workers, by poolwright-timings.json; 2 of all tests',
  );
});

test('shards › run the tests of a setup project once with --no-deps', async ({ directory, stderrOf }) => {
  writeTimings(directory, ANY);
  const projects: FakeProject[] = [
    { name: 'setup', files: { 'setup.ts': ['a'] } },
    { name: 'p', dependencies: ['setup'], files: { 'a.spec.ts': ['a'] } },
  ];
  process.argv.push('--no-deps');
  try {
    await stderrOf(() => {
      const shards = shardsOf(directory, projects, 2);
      expect(shards.map(({ tests, repeated }) => tests.length + repeated.length)).toEqual([1, 1]);
    });
  } finally {
    process.argv.pop();
  }
});

test('shards › have the workers for which there are browsers while all shards run', async ({ directory, stderrOf }) => {
  const names = Array.from({ length: 6 }, (_, n) => `${n}.spec.ts`);
  const tests = names.map((file, n): Timed['tests'][number] => ['p', file, 'a', n === 0 ? 10_000 : 2_000]);
  const projects = [{ name: 'p', files: Object.fromEntries(names.map((name) => [name, ['a']])) }];
  const cases: [Timed['browsers'], lengths: number[], said: string][] = [
    // The second worker of the shard with the long test has time for another one.
    [undefined, [2, 4], 'shard 1/2: 2 of 6 tests, about 10.0 s on 2 workers, by'],
    [4, [2, 4], 'shard 1/2: 2 of 6 tests, about 10.0 s on 2 workers, by'],
    [3, [1, 5], 'shard 1/2: 1 of 6 tests, about 10.0 s on 1 of 2 workers (2 shards share 3 browsers), by'],
    [1, [1, 5], 'shard 1/2: 1 of 6 tests, about 10.0 s on 1 of 2 workers (2 shards share 1 browser), by'],
  ];
  for (const [browsers, lengths, line] of cases) {
    writeTimings(directory, { workers: 2, browsers, tests });
    const said = await stderrOf(() => {
      expect(shardsOf(directory, projects, 2).map((shard) => shard.tests.length)).toEqual(lengths);
    });
    expect(said).toContain(line);
  }
});

test('shards › stay those of Playwright without valid timings, and say why once', async ({ directory, stderrOf }) => {
  const projects = [{ name: '', files: { 'a.spec.ts': ['a'] } }];
  const shard = () => fakeSuite(directory, projects, { current: 1, total: 2 });
  const file = join(directory, 'poolwright-timings.json');
  const cases: [string | null, string][] = [
    [null, 'there are no timings yet'],
    ['', 'poolwright-timings.json is not used: it is empty'],
    ['<<<<<<< HEAD\n{}', 'poolwright-timings.json is not used: it is not JSON'],
    ['{ "schema": 2 }', 'poolwright-timings.json is not used: `schema`: must be 1'],
    ['{ "schema": 1, "workers": 0, "projects": {} }', '`workers`: '],
    ['{ "schema": 1, "workers": 1, "projects": { "": { "a": { "t": [-1] } } } }', 'projects'],
    ['{ "schema": 1, "workers": 1, "projects": { "": { "a": { "t": [1e400] } } } }', 'projects'],
    ['{ "schema": 1, "workers": 1, "projects": {} }', 'there are no timings yet'],
  ];
  for (const [content, why] of cases) {
    rmSync(file, { force: true });
    if (content !== null) writeFileSync(file, content);
    const whole = shard();
    const said = await stderrOf(() => expect(shardSuite(whole, {}).assigned).toBeNull());
    expect(said).toContain(`poolwright: Playwright's own shards: `);
    expect(said).toContain(why);
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(whole.sharded()).toBe(false);
    if (content !== null && !why.includes('no timings'))
      expect(() => shardSuite(shard(), { timings: 'poolwright-timings.json' })).toThrow(/`shards.timings` names/);
  }
  expect(() => shardSuite(shard(), { timings: 'none.json' })).toThrow(/none\.json, but the file does not exist/);
  expect(await stderrOf(() => shardSuite(shard(), false))).toBe('');
});

test('shards › leave the tests to another reporter that makes the shards', async ({ directory, stderrOf }) => {
  writeTimings(directory, ANY);
  const whole = fakeSuite(directory, [{ name: '', files: { 'a.spec.ts': ['a', 'b'] } }], { current: 2, total: 2 });
  whole.testRun.skipSharding = () => {
    throw new Error("Multiple reporters called 'skipSharding'.");
  };
  const said = await stderrOf(() => expect(shardSuite(whole, {}).assigned).toBeNull());
  expect(said).toContain('another reporter makes the shards');
  expect(whole.suite.allTests()).toHaveLength(2);
});

test('shards › are those that UI mode shows', async ({ directory, stderrOf }) => {
  writeTimings(directory, ANY);
  const whole = fakeSuite(directory, [{ name: '', files: { 'a.spec.ts': ['a', 'b'] } }], { current: 2, total: 2 });
  const argv = process.argv;
  process.argv = [...argv, '--ui-port=0'];
  try {
    await stderrOf(() => expect(shardSuite(whole, {}).assigned).toBeNull());
  } finally {
    process.argv = argv;
  }
  // Playwright makes no shard of those that are selected there.
  expect(whole.sharded()).toBe(true);
  expect(whole.suite.allTests()).toHaveLength(2);
});

test('shards › keep files together where Playwright does not show its modes', async ({ directory, stderrOf }) => {
  writeTimings(directory, ANY);
  const files = { 'a.spec.ts': ['a', 'b'], 'b.spec.ts': ['a', 'b'] };
  await stderrOf(() => {
    for (const current of [1, 2]) {
      const whole = fakeSuite(directory, [{ name: '', fullyParallel: true, files }], { current, total: 2 });
      delete whole.testRun.mode;
      shardSuite(whole, {});
      expect(whole.suite.allTests()).toHaveLength(2);
      expect(whole.suite.suites[0]?.suites).toHaveLength(1);
    }
  });
});
