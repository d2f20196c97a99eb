import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from '@playwright/test';
import { schemaText, TIMINGS_SCHEMA_FILE } from '../../../../scripts/schema.mjs';
import { recordText } from '../../../../src/record/record-file.ts';
import type { RunRecord } from '../../../../src/record/run-record.ts';
import { ByTest, type TestTree } from '../../../../src/report/shards/test-tree.ts';
import {
  Expectation,
  parseTimings,
  timingsFile,
  timingsText,
  withMeasured,
} from '../../../../src/report/shards/timings-file.ts';
import { poolwright } from '../../../support/unit/cli/command-line.ts';
import { aRecord, at } from '../../../support/unit/records.ts';
import { test } from '../../../support/unit/reporter-fixtures.ts';

/** `report merge`: tests that ran twice or never, and the timings for later runs. */

type Partition = NonNullable<RunRecord['partition']>;

function shardOf(current: number, tests: Record<string, number | null>, given: Partial<Partition> = {}): RunRecord {
  const partition = {
    hash: 'one',
    timings: 'same',
    playwright: '1.65.1',
    complete: true,
    tests: { p: { 'a.spec.ts': tests } },
  };
  return aRecord({
    runId: 'run-1',
    shard: { current, total: 2 },
    startedAt: at(current),
    partition: { ...partition, ...given },
  });
}

interface Given {
  record: RunRecord;
  timings?: TestTree<readonly number[]>;
}

/** Merges these records. */
async function merge(directory: string, given: readonly Given[]) {
  const files = given.map(({ record, timings }, n) => {
    mkdirSync(join(directory, `${n}`), { recursive: true });
    const file = join(directory, `${n}`, 'run.json');
    writeFileSync(file, recordText(record));
    const text =
      timings && timingsText({ workers: n + 1, projectWorkers: {}, browsers: 8 - n, tests: ByTest.of(timings) });
    if (text !== undefined) writeFileSync(join(directory, `${n}`, 'timings.json'), text);
    return file;
  });
  const output = join(directory, 'all');
  const { code, stdout } = await poolwright(
    ['report', 'merge', ...files, '--output', output, '--strict', '--json'],
    {},
    directory,
  );
  const { problems, others } = JSON.parse(stdout);
  return { code, problems, others, timings: () => readFileSync(join(output, 'timings.json'), 'utf8') };
}

test('merge › names tests that ran in two shards or in none, and why', async ({ directory }) => {
  const good = [shardOf(1, { a: 5, b: null }), shardOf(2, { a: null, b: 7 })];
  expect(
    await merge(
      directory,
      good.map((record) => ({ record })),
    ),
  ).toMatchObject({ code: 0, problems: [] });

  const cases: [RunRecord, string[]][] = [
    [
      shardOf(2, { a: 7, b: null }, { hash: 'two', timings: 'others' }),
      [
        'ran in more than one shard: [p] › a.spec.ts › a (shards 1, 2)',
        'ran in no shard: [p] › a.spec.ts › b',
        'shards 1, 2 were made differently: they had different timings',
      ],
    ],
    [
      shardOf(2, { a: 7, c: null }, { hash: 'two', playwright: '1.66.0' }),
      [
        'ran in more than one shard: [p] › a.spec.ts › a (shards 1, 2)',
        'ran in no shard: [p] › a.spec.ts › b',
        'ran in no shard: [p] › a.spec.ts › c',
        'shards 1, 2 were made differently: they had different tests and versions of Playwright',
      ],
    ],
    // The run was stopped before it: the shards were equal.
    [shardOf(2, { a: null, b: null }), ['ran in no shard: [p] › a.spec.ts › b']],
    // `--last-failed`: what was left out is unknown.
    [shardOf(2, {}, { complete: false }), []],
    [{ ...shardOf(2, {}), partition: null }, ['shard 2 of 2 does not say which tests it ran']],
  ];
  for (const [other, problems] of cases) {
    const merged = await merge(directory, [{ record: shardOf(1, { a: 5, b: null }) }, { record: other }]);
    expect(merged).toMatchObject({ code: problems.length > 0 ? 1 : 0, problems });
  }
});

test('merge › accepts shards of runners that have no such list, and names at most 20 tests', async ({ directory }) => {
  const silent = [1, 2].map((current) => ({ record: { ...shardOf(current, {}), partition: null } }));
  expect(await merge(directory, silent)).toMatchObject({ code: 0, problems: [] });
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`t${n}`, null]));
  const { problems } = await merge(directory, [{ record: shardOf(1, many) }, { record: shardOf(2, many) }]);
  expect(problems).toHaveLength(21);
  expect(problems.at(-1)).toBe('ran in no shard: 10 more tests');
});

test('merge › writes the timings of all shards, each from the shard that ran the test', async ({ directory }) => {
  const merged = await merge(directory, [
    { record: shardOf(1, { a: 50, b: null }), timings: { p: { 'a.spec.ts': { a: [50, 10, 20], b: [70, 80] } } } },
    { record: shardOf(2, { a: null, b: 99 }), timings: { p: { 'a.spec.ts': { a: [10, 20], b: [99, 70, 80] } } } },
  ]);
  expect(merged.others).toHaveLength(1);
  expect(merged.timings()).toBe(`{
  "schema": 1,
  "workers": 2,
  "browsers": 7,
  "projects": {
    "p": {
      "a.spec.ts": {
        "a": [50, 10, 20],
        "b": [99, 70, 80]
      }
    }
  }
}
`);
});

test('merge › has timings of the records alone', async ({ directory }) => {
  const merged = await merge(directory, [
    { record: shardOf(1, { a: 12_345, b: null }) },
    { record: shardOf(2, { a: null, b: 0 }) },
  ]);
  expect(merged.timings()).toContain('"a": [12300]');
});

test('timings › expect the median of five durations, and of new tests that of their file, project or suite', () => {
  const key = { project: 'p', file: 'a', title: 't' };
  let tests = new ByTest<readonly number[]>();
  for (const ms of [9, 1, 2, 3, 4, 5]) tests = withMeasured(tests, [[key, ms]]);
  expect(tests.get(key)).toEqual([5, 4, 3, 2, 1]);
  expect(new Expectation({ tests }).of(key)).toBe(3);
  // One slow run of two does not count.
  expect(new Expectation({ tests: ByTest.of({ p: { a: { t: [900, 10] } } }) }).of(key)).toBe(10);
  tests = ByTest.of({ p: { a: { t: [10], u: [20], v: [30] }, b: { t: [40], u: [50] } }, q: { a: { t: [60] } } });
  const expected = new Expectation({ tests });
  expect(expected.of({ ...key, title: 'new' })).toBe(20);
  expect(expected.of({ ...key, file: 'new' })).toBe(30);
  expect(expected.of({ ...key, project: 'new' })).toBe(30);
  expect(new Expectation({ tests: new ByTest() }).of(key)).toBe(0);
});

test('timings › are sorted by code units, a line for each test, and read as they were written', () => {
  const titles = ['b', 'a', 'B', 'é', '[\n1\n]', '"', 'constructor', '10', '9'];
  const tests = ByTest.of({ p: { 'a.spec.ts': Object.fromEntries(titles.map((title, n) => [title, [n, n + 1]])) } });
  const text = timingsText({ workers: 1, projectWorkers: { p: 1 }, browsers: 4, tests });
  const read = parseTimings(text);
  if (!('timings' in read)) throw new Error(read.why);
  expect(timingsText(read.timings)).toBe(text);
  expect([...read.timings.tests.entries()].map(([{ title }]) => title).sort()).toEqual(titles.sort());
  expect(text.split('\n').filter((line) => /\[\d+, \d+\],?$/.test(line))).toHaveLength(titles.length);
});

test('timings › have the published schema', () => {
  const published = readFileSync(resolve(import.meta.dirname, '../../../..', TIMINGS_SCHEMA_FILE), 'utf8');
  expect(published).toBe(schemaText(timingsFile, 'poolwright-timings.json'));
});
