import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { TestResult } from '@playwright/test/reporter';
import fc from 'fast-check';
import { recordText } from '../../../../src/record/record-file.ts';
import type { RunWork } from '../../../../src/record/run-record.ts';
import { BalancedShards } from '../../../../src/report/shards/balanced-shards.ts';
import { balancedMs, endsOf, howManyShards } from '../../../../src/report/shards/how-many.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { poolwright } from '../../../support/unit/cli/command-line.ts';
import { fakeSuite } from '../../../support/unit/fake-suite.ts';
import { aRecord, at } from '../../../support/unit/records.ts';
import { test } from '../../../support/unit/reporter-fixtures.ts';

/** How long a suite takes in how many shards: `report shards`, and the line of `report merge`. */

const MINUTE = 60_000;

function workOf(minutes: readonly number[], given: Partial<RunWork> = {}): RunWork {
  const pieces = minutes.map((each) => ({ project: 'p', ms: each * MINUTE }));
  return { workers: 1, projectWorkers: {}, pieces, needs: [], ...given };
}

test('how many shards › the work is shared, and what each shard repeats is added', () => {
  const needs = [{ project: 'p', needed: 'setup', ms: MINUTE }];
  expect(howManyShards({ work: workOf([4, 2, 2], { needs }), browsers: null })).toEqual([
    {
      shards: 1,
      '1 browser each': '9 min (9.0)',
      '2 browsers each': '5 min (10.0)',
      '4 browsers each': '5 min (15.0)',
      '8 browsers each': '5 min (15.0)',
    },
    expect.objectContaining({ shards: 2, '1 browser each': '5 min (10.0)' }),
    expect.objectContaining({ shards: 3, '1 browser each': '5 min (11.0)' }),
  ]);
  expect(howManyShards({ work: null, browsers: null })).toEqual([]);
});

test('how many shards › only as many browsers as there are, for all shards together', () => {
  const work = workOf([4, 4, 4, 4], { workers: 4 });
  expect(howManyShards({ work, browsers: 4 }).slice(1, 3)).toEqual([
    expect.objectContaining({
      '1 browser each': '8 min (16.0)',
      '2 browsers each': '4 min (16.0)',
      '4 browsers each': '–',
    }),
    expect.objectContaining({ '1 browser each': '8 min (16.0)', '2 browsers each': '–' }),
  ]);
  expect([null, 4, 3, 0].map((browsers) => balancedMs({ work, browsers }, 2))).toEqual(
    [4, 4, 8, 8].map((n) => n * MINUTE),
  );
  expect(balancedMs({ work, browsers: 4 }, 5)).toBeNull();
});

test('how many shards › no shard ends before its share, nor after all the work', () => {
  const minutes = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 30 });
  const property = fc.property(
    minutes,
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 5 }),
    (all, shards, workers) => {
      const ends = endsOf(workOf(all), shards, workers);
      const total = all.reduce((sum, each) => sum + each, 0) * MINUTE;
      const longest = Math.max(...ends.map(({ ms }) => ms));
      expect(ends).toHaveLength(shards);
      expect(longest).toBeGreaterThanOrEqual(Math.max(total / (shards * workers), Math.max(...all) * MINUTE));
      expect(longest).toBeLessThanOrEqual(total);
    },
  );
  fc.assert(property, propertyRuns(200));
});

test('report › merge says how long each shard took, and `report shards` how many there could be', async ({
  directory,
}) => {
  const files = [[3, 3], [1]].map((minutes, n) => {
    const file = join(directory, `${n}`, 'run.json');
    mkdirSync(join(directory, `${n}`), { recursive: true });
    const shard = { current: n + 1, total: 2 };
    const [startedAt, endedAt] = [at(0), at(n === 0 ? 400 : 80)];
    writeFileSync(file, recordText(aRecord({ runId: 'run-1', shard, startedAt, endedAt, work: workOf(minutes) })));
    return file;
  });
  const merged = await poolwright(['report', 'merge', ...files], {}, directory);
  expect(merged.stdout.replace(/\s+/g, ' ')).toContain(
    'shards 1/2 6 min 40 s, 2/2 1 min 20 s; in equal parts 4 min each. Balanced by these timings, the tests of the longest one take 4 min',
  );
  const timeline = readFileSync(join(directory, 'poolwright-report/timeline.html'), 'utf8');
  expect(timeline).toContain('1/2 6 min 40 s, 2/2 1 min 20 s; in equal parts 4 min each');
  const shown = await poolwright(['report', 'shards'], {}, directory);
  expect(shown.stdout).toMatch(/^ shards {3}1 browser each {3}2 browsers each/);
  expect(shown.stdout).toMatch(/^ 2 {8}4 min \(7\.0\) {6}3 min \(9\.0\)/m);
  const { stdout } = await poolwright(['report', 'shards', ...files, '--json'], {}, directory);
  expect(JSON.parse(stdout)).toHaveLength(3);
  writeFileSync(join(directory, 'none.json'), recordText(aRecord({ work: null })));
  const none = await poolwright(['report', 'shards', 'none.json'], {}, directory);
  expect(none).toMatchObject({ code: 0, stdout: '' });
  expect(none.stderr).toContain('Playwright Test does since 1.62');
});

test('the reporter › records the pieces of a run without shards, and what they took', async ({ directory }) => {
  const files = { 'a.spec.ts': ['a', 'b'], 'b.spec.ts': ['a'], 'c.spec.ts': ['a'] };
  const projects = [
    { name: 'setup', files: { 'setup.ts': ['a'] } },
    { name: 'p', dependencies: ['setup'], files },
  ];
  const whole = fakeSuite(directory, projects, null);
  const reporter = new BalancedShards({ shards: false });
  await reporter.preprocess(whole);
  reporter.suiteBegan(whole.config, whole.suite);
  for (const each of whole.suite.allTests()) {
    if (each.titlePath().includes('c.spec.ts')) continue;
    const result = { duration: 1_000, status: 'passed', workerIndex: 0 } as TestResult;
    reporter.ended(result, Object.assign(each, { annotations: [] }));
  }
  const { work, partition } = await reporter.complete(aRecord({}));
  expect(partition).toBeNull();
  expect(work).toEqual({
    workers: 2,
    projectWorkers: {},
    pieces: [
      { project: 'p', ms: 2_000 },
      { project: 'p', ms: 1_000 },
    ],
    needs: [{ project: 'p', needed: 'setup', ms: 1_000 }],
  });
});
