import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import fc from 'fast-check';
import { sweepReport } from '../../../src/cli/commands/sweep.ts';
import { tableLines } from '../../../src/cli/print.ts';
import { printable, shellWord } from '../../../src/printable.ts';
import { withFigures } from '../../../src/record/figures.ts';
import { readRecords } from '../../../src/record/read-records.ts';
import { type RunRecord, runRecord } from '../../../src/record/run-record.ts';
import { mergeRecords } from '../../../src/record/shards/merge-records.ts';
import { checkBudget } from '../../../src/report/summary/budget.ts';
import { reportToGitHub } from '../../../src/report/summary/github.ts';
import { Sheet } from '../../../src/report/summary/layout.ts';
import { summaryLines } from '../../../src/report/summary/summary.ts';
import { timelineData } from '../../../src/report/timeline/timeline-data.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';
import { expectClean, expectShown, hostileRecord } from './hostile-records.ts';

/**
 * Records may come from untrusted sources: shards, artifacts of forks. Whatever they contain, each printed line is one
 * line, and nothing throws.
 */

const FILES = { record: 'run.json', timeline: 'timeline.html' };
const SHEETS = [new Sheet(), new Sheet({ width: 100 }), new Sheet({ width: 60 }), new Sheet({ width: 31 })];

test('prints a summary of clean lines when a record is hostile', async ({ directory }) => {
  const file = join(directory, 'summary.md');
  const property = fc.property(fc.array(hostileRecord, { minLength: 1, maxLength: 3 }), (records) => {
    for (const record of records) equal(runRecord.safeParse(record).error, undefined);
    const [first] = records as [RunRecord];
    for (const record of [first, mergeRecords(records)]) {
      const run = withFigures(record);
      const { exceeded, unknown } = checkBudget(run.figures, { bandwidthMB: 1, sessions: 1, costCents: 1 });
      const notes = [...exceeded, ...unknown];
      for (const sheet of SHEETS) expectClean(summaryLines(run, { files: FILES, notes, sheet }));
      rmSync(file, { force: true });
      expectClean(reportToGitHub(run, notes, { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file }));
      expectMarkdown(readFileSync(file, 'utf8'));
      expectShown(timelineData(run, null));
    }
  });
  fc.assert(property, propertyRuns(300));
});

test('names the error of an invalid file in one clean line', async ({ directory }) => {
  const file = join(directory, 'run.json');
  const path = fc.constantFrom<(string | number)[]>(
    ['schema'],
    ['startedAt'],
    ['sessions', 0, 'lentAt'],
    ['sessions', 0, 'waitMs'],
    ['sessions', 0, 'tests', 0, 'endedAt'],
    ['sessions', 0, 'tests', 0, 'title'],
  );
  const good = aRecord({ sessions: [aSession({ tests: [aTest({})] })] });
  const value = fc.oneof(
    fc.constantFrom('garbage', '\u001b[31m\n::error::x', 1e308, -1, 'x'.repeat(20_000)),
    fc.jsonValue(),
  );
  const property = fc.property(path, value, (keys, wrong) => {
    const record = structuredClone(good);
    const last = keys.at(-1) as string;
    const owner = keys.slice(0, -1).reduce<object>((at, key) => Reflect.get(at, key), record);
    Reflect.set(owner, last, wrong);
    writeFileSync(file, JSON.stringify(record));
    const { records, skipped } = readRecords([file]);
    if (!runRecord.safeParse(JSON.parse(readFileSync(file, 'utf8'))).success) deepEqual(records, []);
    expectClean(skipped.map(({ why }) => printable(why)));
    ok(Math.max(0, ...skipped.map(({ why }) => why.length)) < 300);
  });
  fc.assert(property, propertyRuns(100));
});

test('rejects times and figures that cannot be computed with', () => {
  const session = (given: object) => aRecord({ sessions: [{ ...aSession({}), ...given }] });
  const isValid = (record: unknown) => runRecord.safeParse(record).success;
  expect(isValid(session({}))).toBe(true);
  for (const wrong of [
    { lentAt: 'garbage' },
    { lentAt: '2026-03-01' },
    { lentAt: '+275760-09-13T00:00:00.000Z' },
    { waitMs: 1e308 },
    { waitMs: -1 },
    { startMs: Number.MAX_VALUE },
    { observedBytes: -1 },
    { parallelIndex: 0.5 },
    { shard: { current: 3, total: 2 } },
    { shard: { current: 1, total: 2 ** 31 } },
    { sessionId: 'x'.repeat(100_000) },
  ])
    expect(isValid(session(wrong)), JSON.stringify(wrong).slice(0, 80)).toBe(false);
});

test('handles a session with more tests than a call may have arguments', () => {
  const tests = Array.from({ length: 130_000 }, (_, n) => aTest({ id: `${n}`, title: `test ${n}` }));
  const record = aRecord({ sessions: [aSession({ tests })] });
  expect(runRecord.safeParse(record).success).toBe(true);
  const run = withFigures(mergeRecords([record, aRecord({ sessions: [aSession({ tests: [] })] })]));
  expect(run.figures.sessions).toBe(2);
  expectClean(summaryLines(run, { files: FILES, sheet: new Sheet({ width: 80 }) }));
  expect(timelineData(run, null).tests.length).toBe(130_000);
});

test('quotes an ID in a command when a shell would interpret it', () => {
  expect(['session-1', 'sess_9:a/b@c', '$(touch x)', "it's", '', 'a b\n::error::x'].map(shellWord)).toEqual([
    'session-1',
    'sess_9:a/b@c',
    "'$(touch x)'",
    "'it'\\''s'",
    "''",
    "'a b : :error::x'",
  ]);
  const unconfirmed = aSession({ sessionId: '$(touch x)', endConfirmed: false });
  expect(summaryLines(withFigures(aRecord({ sessions: [unconfirmed] })), { files: {}, sheet: new Sheet() })).toContain(
    "  NOT CONFIRMED ENDED: session $(touch x). Stop it: npx poolwright sessions stop '$(touch x)'",
  );
});

test('leaves plain text unchanged', () => {
  for (const text of [
    'a › b',
    'std::vector',
    'Foo::bar works',
    '日本語',
    '👩‍👩‍👧',
    'مرحبا',
    'a  b',
    '100 % #1 [x]',
    "it's",
  ])
    expect(printable(text)).toBe(text);
  expect(printable('\u001b[31mred\u001b[39m\ttab')).toBe('red tab');
});

test('prints other untrusted text in clean lines', () => {
  const property = fc.property(hostileRecord, ({ runId, sessions, leaseFailures }) => {
    const id = runId ?? '';
    const stopped = sessions.map(({ sessionId }) => ({ sessionId, runId: id }));
    const swept = {
      stopped,
      poolsDeleted: leaseFailures,
      alive: stopped.map((each) => ({ ...each, project: id })),
      unknownLeases: [{ poolId: id, runId: id }],
      unknownBrowsers: [{ request: id, runId: id, listedBy: null, ledger: id }],
      setAside: leaseFailures,
      failures: leaseFailures,
    };
    expectClean(sweepReport(swept, '/root').map(printable));
    expectClean(
      tableLines(
        sessions.map((session) => ({ ...session })),
        ['sessionId', 'poolId', 'project'],
      ),
    );
  });
  fc.assert(property, propertyRuns(200));
});

/** Every row of a table has the same number of cells, and no text is interpreted as markup. */
function expectMarkdown(markdown: string): void {
  expectClean(markdown.split('\n'));
  for (const line of markdown.split('\n').filter((each) => each.startsWith('|'))) {
    const cells = line.replaceAll(/\\./g, '').split('|').length - 2;
    if (cells !== 2) throw new Error(`${cells} cells in ${line}`);
  }
  const plain = markdown.replaceAll(/<\/?(details|summary)>/g, '').replaceAll(/\\./g, '');
  const tags = plain.match(/<|`|\[|\*|\$/);
  if (tags) throw new Error(`markup ${tags[0]} in ${markdown}`);
}
