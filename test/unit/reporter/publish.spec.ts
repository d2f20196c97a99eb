import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { RunWithFigures } from '../../../src/record/figures.ts';
import { readRecord } from '../../../src/record/record-file.ts';
import { printRun, writeRun } from '../../../src/reporter/publish.ts';
import { aRecord, TROUBLED_RUN } from '../../support/unit/records.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';

/** What a run leaves, and what is said of it. */

const timeline = (_run: RunWithFigures, htmlReport: string | null) => `timeline of ${htmlReport}`;

test('record and timeline are written, from figures that are computed once', async ({ folder, saidWhile }) => {
  const given: RunWithFigures[] = [];
  const run = await writeRun(TROUBLED_RUN, {
    folder: join(folder, 'deep', 'poolwright'),
    htmlReport: '../report/index.html',
    timeline: (computed, htmlReport) => {
      given.push(computed);
      return timeline(computed, htmlReport);
    },
  });
  expect(given).toHaveLength(1);
  expect(given[0]?.figures).toBe(run.figures);
  expect(run).toMatchObject({ failure: null, isRecorded: true });
  expect(readRecord(join(folder, 'deep', 'poolwright'))).toEqual(TROUBLED_RUN);
  expect(await readFile(run.files?.timeline ?? '', 'utf8')).toBe('timeline of ../report/index.html');
  expect(await readdir(join(folder, 'deep', 'poolwright'))).toEqual(['run.json', 'timeline.html']);

  const file = join(folder, 'summary.md');
  process.env.GITHUB_STEP_SUMMARY = file;
  process.env.GITHUB_ACTIONS = 'true';
  let exceeded: string[] = [];
  const said = await saidWhile(() => {
    exceeded = printRun(run, { sessions: 1, costCents: 7 });
  });
  expect(exceeded).toEqual(['budget exceeded: sessions may be 1, and the run used 2 browsers']);
  expect(said).toMatch(/^\npoolwright: 6 tests on 2 hosted browsers\n/);
  expect(said).toContain('  budget exceeded: sessions may be 1');
  expect(said).toContain(`  timeline  ${run.files?.timeline}\n  record    ${run.files?.record}\n`);
  expect(said).toContain('::warning title=poolwright::browser lost: session two was lost\n');
  expect(await readFile(file, 'utf8')).toContain('### poolwright: 6 tests on 2 hosted browsers');
});

test('a folder that cannot be written is said once, and the summary is there all the same', async ({
  folder,
  saidWhile,
}) => {
  await writeFile(join(folder, 'a-file'), '');
  const run = await writeRun(TROUBLED_RUN, { folder: join(folder, 'a-file'), htmlReport: null, timeline });
  expect(run).toMatchObject({ files: null, isRecorded: false });
  const said = await saidWhile(() => printRun(run, {}));
  expect(said).toMatch(/^poolwright: record and timeline could not be written: E\w+/);
  expect(said).toContain('poolwright: 6 tests on 2 hosted browsers\n');
  expect(said).not.toContain('  timeline');
});

test('a timeline that cannot be written leaves the record', async ({ folder }) => {
  await mkdir(join(folder, 'timeline.html'));
  const run = await writeRun(aRecord({}), { folder, htmlReport: null, timeline });
  expect(run).toMatchObject({ files: null, isRecorded: true });
  expect(readRecord(folder)).toEqual(aRecord({}));
});

test('a limit of which nothing is known is said, and is not exceeded', async ({ folder, saidWhile }) => {
  const run = await writeRun(aRecord({}), { folder, htmlReport: null, timeline });
  const said = await saidWhile(() => expect(printRun(run, { costCents: 1 })).toEqual([]));
  expect(said).toContain('  budget costCents: not checked');
});
