import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { mochaOptions } from '../../../../src/runners/mocha/global-fixtures.ts';
import { requirementOf } from '../../../../src/runners/mocha/requirement.ts';

/** Settings read from Mocha's command line, and from test files. */

const root = join(import.meta.dirname, '../../..');

test("reads Mocha's options like Mocha", () => {
  expect(mochaOptions(root, ['--parallel', '--jobs', '3'])).toEqual({ parallel: true, watch: false, jobs: 3 });
  expect(mochaOptions(root, ['-p', '-j', '2', '--watch'])).toEqual({ parallel: true, watch: true, jobs: 2 });
  expect(mochaOptions(root, ['--jobs', '3'])).toEqual({ parallel: false, watch: false, jobs: 1 });
  // Without an installed Mocha.
  expect(mochaOptions(tmpdir(), ['--parallel'])).toMatchObject({ parallel: true, watch: false });
});

test('finds what a test file needs by its source', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-mentions-'));
  const requirement = async (text: string) => {
    const file = join(directory, 'a.js');
    await writeFile(file, text);
    return requirementOf(file);
  };
  try {
    expect(await requirement('await this.page.goto()')).toBe('page');
    expect(await requirement('this\n  .hostedSession')).toBe('page');
    expect(await requirement('const { page, title = "" } = this;')).toBe('page');
    expect(await requirement("import { hosted } from 'poolwright/mocha'")).toBe('browser');
    expect(await requirement('const { hosted } = require("poolwright/mocha")')).toBe('browser');
    expect(await requirement('this.pages; this.timeout(5); const { id } = this; // the page of this')).toBe('nothing');
    expect(requirementOf(join(directory, 'b.js'))).toBe('nothing');
    expect(requirementOf(undefined)).toBe('nothing');
  } finally {
    await rm(directory, { recursive: true });
  }
});
