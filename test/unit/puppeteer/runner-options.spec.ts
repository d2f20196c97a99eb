import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { addToMessage } from '../../../src/puppeteer/runners/add-to-message.ts';
import { mochaOptions } from '../../../src/puppeteer/runners/mocha/jobs.ts';
import { wantedBy } from '../../../src/puppeteer/runners/mocha/mentions.ts';
import { runnerFlags } from '../../../src/puppeteer/runners/node-test/runner-flags.ts';
import { optionsFromFile } from '../../../src/puppeteer/runners/options-file.ts';

/** What is read from how a runner was started, and from test files. */

const root = join(import.meta.dirname, '../../..');

test("Mocha's options are what Mocha takes them for", () => {
  expect(mochaOptions(root, ['--parallel', '--jobs', '3'])).toEqual({ parallel: true, watch: false, jobs: 3 });
  expect(mochaOptions(root, ['-p', '-j', '2', '--watch'])).toEqual({ parallel: true, watch: true, jobs: 2 });
  expect(mochaOptions(root, ['--jobs', '3'])).toEqual({ parallel: false, watch: false, jobs: 1 });
  // Without a Mocha that can be asked.
  expect(mochaOptions(tmpdir(), ['--parallel'])).toMatchObject({ parallel: true, watch: false });
});

test('a test file wants what it names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'poolwright-mentions-'));
  const wanted = async (text: string) => {
    const file = join(folder, 'a.js');
    await writeFile(file, text);
    return wantedBy(file);
  };
  try {
    expect(await wanted('await this.page.goto()')).toBe('page');
    expect(await wanted('this\n  .hostedSession')).toBe('page');
    expect(await wanted('const { page, title = "" } = this;')).toBe('page');
    expect(await wanted("import { hosted } from 'poolwright/mocha'")).toBe('browser');
    expect(await wanted('const { hosted } = require("poolwright/mocha")')).toBe('browser');
    expect(await wanted('this.pages; this.timeout(5); const { id } = this; // the page of this')).toBe('nothing');
    expect(wantedBy(join(folder, 'b.js'))).toBe('nothing');
    expect(wantedBy(undefined)).toBe('nothing');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("Node's flags of a test run", () => {
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

test('a text is added to message and stack, once', () => {
  const error = new Error('costs $& more');
  const frames = error.stack?.split('\n').slice(1).join('\n');
  addToMessage(error, '(note)');
  addToMessage(error, '(note)');
  expect(error.message).toBe('costs $& more\n(note)');
  expect(error.stack).toBe(`Error: costs $& more\n(note)\n${frames}`);
  const empty = new Error('');
  addToMessage(empty, '(note)');
  expect(empty.stack).toMatch(/^Error: ?\n\(note\)\n\s+at /);
  for (const other of [undefined, null, 'text', { message: 7 }]) addToMessage(other, '(note)');
});

test('refuses `ahead: true`, which does nothing for Puppeteer, and takes `false`', async ({}, testInfo) => {
  const file = testInfo.outputPath('poolwright.config.json');
  await writeFile(file, '{ "ahead": true }');
  await expect(optionsFromFile(testInfo.outputDir)).rejects.toThrow(
    expect.objectContaining({ name: 'OptionsError', field: 'ahead' }),
  );
  await writeFile(file, '{ "ahead": false }');
  expect(await optionsFromFile(testInfo.outputDir)).toEqual({ ahead: false });
});
