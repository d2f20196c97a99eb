import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { withFigures } from '../../../src/record/figures.ts';
import { reportToGitHub } from '../../../src/report/summary/github.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';

test('appends a Markdown summary and prints warnings about browsers on GitHub, and does nothing elsewhere', async ({
  directory,
}) => {
  const file = join(directory, 'summary.md');
  await writeFile(file, 'of the step before\n');
  const failing = aTest({ title: 'a | b <script> `c` *d*', status: 'failed', ok: false });
  const sessions = [aSession({ tests: [failing], infrastructureFailures: ['100% lost\nin two lines'] })];
  const run = withFigures(aRecord({ sessions }));
  expect(reportToGitHub(run, [], {})).toEqual([]);
  expect(reportToGitHub(run, [], { GITHUB_STEP_SUMMARY: file })).toEqual([]);
  const text = await readFile(file, 'utf8');
  expect(text).toMatch(/^of the step before\n### poolwright: 1 test on 1 hosted browser\n/);
  expect(text).toContain('| browsers | started in 2.0 s; waited 1.5 s |');
  expect(text).toContain('- ⚠️ browser lost: 100% lost in two lines');
  expect(text).toContain('| 2.0 s | \\[us\\] a.spec.ts:3 › a \\| b &lt;script> \\`c\\` \\*d\\* |');
  // Failed tests are reported by other reporters.
  expect(reportToGitHub(run, ['budget exceeded: x'], { GITHUB_ACTIONS: 'true' })).toEqual([
    '::warning title=poolwright::browser lost: 100%25 lost in two lines',
    '::warning title=poolwright::budget exceeded: x',
  ]);
  const unwritable = reportToGitHub(run, [], { GITHUB_STEP_SUMMARY: join(directory, 'no', 'such') });
  expect(unwritable.join()).toMatch(/could not be added to GITHUB_STEP_SUMMARY: ENOENT/);
});
