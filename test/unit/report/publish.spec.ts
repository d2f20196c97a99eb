import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect } from '@playwright/test';
import type { RunWithFigures } from '../../../src/record/figures.ts';
import { readRecord } from '../../../src/record/record-file.ts';
import { printRun, writeRun } from '../../../src/report/publish.ts';
import { aRecord, TROUBLED_RUN } from '../../support/unit/records.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';

/** The files of a run, and its printed summary. */

const timeline = (_run: RunWithFigures, htmlReport: string | null) => `timeline of ${htmlReport}`;

test('writes record and timeline from figures that are computed once', async ({ directory, stderrOf }) => {
  const given: RunWithFigures[] = [];
  const run = await writeRun(TROUBLED_RUN, {
    directory: join(directory, 'deep', 'poolwright'),
    htmlReport: '../report/index.html',
    budget: { sessions: 1, costCents: 7 },
    timeline: (computed, htmlReport) => {
      given.push(computed);
      return timeline(computed, htmlReport);
    },
  });
  expect(given).toHaveLength(1);
  expect(given[0]?.figures).toBe(run.figures);
  expect(run.failure).toBeNull();
  const line = 'budget exceeded: sessions is limited to 1, but the run used 2 browsers';
  const exceededBudget = { code: 'BUDGET_EXCEEDED', message: line, next: 'Use less, or raise the `budget`.' };
  expect(readRecord(join(directory, 'deep', 'poolwright'))).toEqual({
    ...TROUBLED_RUN,
    failures: [...TROUBLED_RUN.failures, exceededBudget],
  });
  expect(await readFile(run.files.timeline ?? '', 'utf8')).toBe('timeline of ../report/index.html');
  expect(await readdir(join(directory, 'deep', 'poolwright'))).toEqual(['run.json', 'timeline.html']);

  const file = join(directory, 'summary.md');
  process.env.GITHUB_STEP_SUMMARY = file;
  process.env.GITHUB_ACTIONS = 'true';
  let exceeded: string[] = [];
  const output = await stderrOf(() => {
    exceeded = printRun(run);
  });
  expect(exceeded).toEqual([line]);
  expect(output).toMatch(/^\npoolwright: 6 tests on 2 hosted browsers\n/);
  expect(output).toContain('  budget exceeded: sessions is limited to 1');
  expect(output).toContain(`  files     ${run.files.timeline}, ${run.files.record}\n`);
  expect(output).toContain('::warning title=poolwright::browser lost: session two was lost\n');
  expect(await readFile(file, 'utf8')).toContain('### poolwright: 6 tests on 2 hosted browsers');
});

test('reports an unwritable directory once, and still prints the summary', async ({ directory, stderrOf }) => {
  await writeFile(join(directory, 'a-file'), '');
  const run = await writeRun(TROUBLED_RUN, { directory: join(directory, 'a-file'), htmlReport: null, timeline });
  expect(run.files).toEqual({});
  const output = await stderrOf(() => printRun(run));
  expect(output).toMatch(/^poolwright: \S+a-file.run\.json could not be written: E\w+/);
  expect(output).toContain('poolwright: 6 tests on 2 hosted browsers\n');
  expect(output).not.toContain('  files');
});

test('keeps the record when the timeline cannot be written', async ({ directory, stderrOf }) => {
  await mkdir(join(directory, 'timeline.html'));
  const run = await writeRun(aRecord({}), { directory, htmlReport: null, timeline });
  expect(run.files).toEqual({ record: relative('', join(directory, 'run.json')) });
  expect(readRecord(directory)).toEqual(aRecord({}));
  const output = await stderrOf(() => printRun(run));
  expect(output).toMatch(/^poolwright: \S+timeline\.html could not be written: E\w+/);
  expect(output).toContain(`  files     ${run.files.record}\n`);
});

test('prints nothing of a run without tests and browsers', async ({ directory, stderrOf }) => {
  const run = await writeRun(aRecord({}), { directory, htmlReport: null, timeline });
  expect(await stderrOf(() => expect(printRun(run)).toEqual([]))).toBe('');
});

test('writes the record before the timeline is made', async ({ directory }) => {
  const run = await writeRun(aRecord({}), {
    directory,
    htmlReport: null,
    timeline: () => {
      expect(readRecord(directory)).toEqual(aRecord({}));
      throw new Error('the script is missing');
    },
  });
  expect(run.failure).toMatch(/timeline\.html could not be written: the script is missing$/);
});

test('reports a limit that cannot be checked, and does not fail for it', async ({ directory, stderrOf }) => {
  const run = await writeRun(aRecord({}), { directory, htmlReport: null, budget: { costCents: 1 }, timeline });
  const output = await stderrOf(() => expect(printRun(run)).toEqual([]));
  expect(output).toContain('  budget costCents: not checked');
});
