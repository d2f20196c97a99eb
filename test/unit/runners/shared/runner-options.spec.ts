import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { mochaOptions } from '../../../../src/runners/mocha/global-fixtures.ts';
import { requirementOf } from '../../../../src/runners/mocha/requirement.ts';
import { runnerFlags } from '../../../../src/runners/node-test/runner-flags.ts';
import { addToMessage } from '../../../../src/runners/shared/add-to-message.ts';

/** Settings read from a runner's command line, and from test files. */

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

test("reads Node's test flags", () => {
  expect(runnerFlags(['--require', 'x', '--test', '--test-concurrency=3'])).toEqual({
    startsProcesses: true,
    watch: false,
    workers: 3,
    shard: null,
  });
  expect(runnerFlags(['--test', '--test-shard', '2/3', '--watch'])).toMatchObject({
    shard: { current: 2, total: 3 },
    watch: true,
  });
  expect(runnerFlags(['--test', '--test-isolation=none'])).toMatchObject({ startsProcesses: false, workers: 1 });
  expect(runnerFlags(['--test', '--experimental-test-isolation=none'])).toMatchObject({ startsProcesses: false });
  expect(runnerFlags([])).toMatchObject({ startsProcesses: false, shard: null });
});

test('adds a text to message and stack once, behind the cause', () => {
  const error = new Error('costs $& more');
  const frames = error.stack?.split('\n').slice(1).join('\n');
  addToMessage(error, '(note)');
  addToMessage(error, '(note)');
  expect(error.message).toBe('costs $& more\n(note)');
  expect(error.stack).toBe(`Error: costs $& more\n(note)\n${frames}`);
  const empty = new Error('');
  addToMessage(empty, '(note)');
  expect(empty.stack).toMatch(/^Error: ?\n\(note\)\n\s+at /);
  const explained = new Error('failed to fetch');
  addToMessage(explained, '(note)', 'its server was not reached');
  expect(explained.message).toBe('its server was not reached\n\nfailed to fetch\n(note)');
  expect(explained.stack).toMatch(/^Error: its server was not reached\n\nfailed to fetch\n\(note\)\n\s+at /);
  for (const other of [undefined, null, 'text', { message: 7 }]) addToMessage(other, '(note)');
});
