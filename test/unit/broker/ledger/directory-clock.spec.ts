import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { test as base, expect } from '@playwright/test';
import { directoryClock } from '../../../../src/broker/ledger/directory-clock.ts';

const WRONG = Date.UTC(2001, 0, 1);

/** A directory, while this process's clock is wrong. */
const test = base.extend<{ root: string }>({
  root: async ({}, use) => {
    const root = mkdtempSync(join(tmpdir(), 'directory-clock-'));
    mock.timers.enable({ apis: ['Date'], now: WRONG });
    await use(root);
    mock.timers.reset();
    rmSync(root, { recursive: true, force: true });
  },
});

test('is that of the file system, not of this process, and leaves no file', ({ root }) => {
  const directory = join(root, 'not', 'there', 'yet');
  const before = statSync(root).mtimeMs;
  const now = directoryClock(directory)();
  expect(readdirSync(directory)).toEqual([]);
  const after = join(root, 'after');
  writeFileSync(after, '');
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(statSync(after).mtimeMs);
  expect(now).toBeGreaterThan(WRONG);
});

test('is this process’s where nothing can be written', ({ root }) => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  for (const directory of [file, join(file, 'below'), null]) expect(directoryClock(directory)()).toBe(WRONG);
});
