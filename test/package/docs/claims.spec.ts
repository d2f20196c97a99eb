import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { problemsOf, rowsOf } from '../../../scripts/claims.mjs';
import { ROOT } from '../../support/docs/pages.ts';

/** Measured figures of README and docs stand in their rows of bench/results/figures.md. */

const HEAD = `| Figure | Value | Goal | Commit | Date | Machine | Rounds | Command | Page | Code |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |`;
const ROW =
  '| <a id="small"></a>200 tests: × local | 1.173 | 1.1 | abc1234 | 2026-11-28 | m | 4 | `b` | [p](p.md) | src |';
const LINK = '[bench](bench/results/figures.md#small)';

const problems = (text: string) => problemsOf('README.md', text, rowsOf(`${HEAD}\n${ROW}`));

test('accepts figures of the cited row, also rounded, and numbers in code', () => {
  expect(problems(`200 tests take 1.17 × as long, see \`--port 9222\` (${LINK}).`)).toEqual([]);
  expect(problems(`- one\n- 200 tests take 1.2 × as long (${LINK})`)).toEqual([]);
  expect(problems(`| ${LINK} | × |\n| --- | --- |\n| 200 | 1.17 |`)).toEqual([]);
});

test('refuses other figures, figures without a row, and rows that do not exist', () => {
  expect(problems(`200 tests take 1.16 × as long (${LINK}).`)).toEqual([
    expect.stringContaining('1.16 is not in small'),
  ]);
  expect(problems(`| ${LINK} | × |\n| --- | --- |\n| 300 | 1.17 |`)).toEqual([expect.stringContaining('300')]);
  expect(problems('Tests take 0.92 × as long.')).toEqual([expect.stringContaining('needs a link to its row')]);
  expect(problems('In 1,200 runs, nothing was left.')).toEqual([expect.stringContaining('needs a link to its row')]);
  expect(problems('[bench](bench/results/figures.md#other)')).toEqual([expect.stringContaining('no row "other"')]);
});

test('refuses a row without a commit, a date or another column', () => {
  expect(() => rowsOf(`${HEAD}\n${ROW.replace('abc1234', '')}`)).toThrow('a row needs');
  expect(rowsOf(readFileSync(join(ROOT, 'bench/results/figures.md'), 'utf8')).size).toBeGreaterThan(5);
});

test('README and docs claim nothing else', () => {
  expect(execFileSync(process.execPath, ['scripts/claims.mjs'], { cwd: ROOT, encoding: 'utf8' })).toBe('');
});
