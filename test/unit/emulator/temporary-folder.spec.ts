import { expect, test } from '@playwright/test';
import { temporaryFolder } from '../../../src/emulator/disk/browser-disk.ts';

test('the temporary folder of a browser that shares this machine’s disk', () => {
  expect(temporaryFolder('/tmp/t-1', 'linux')).toEqual({ TMPDIR: '/tmp/t-1' });
  expect(temporaryFolder('/tmp/t-1', 'darwin')).toEqual({ TMPDIR: '/tmp/t-1' });
  // It has other variables there, and no socket whose path could be too long.
  const folder = `C:\\${'x'.repeat(200)}`;
  expect(temporaryFolder(folder, 'win32')).toEqual({ TEMP: folder, TMP: folder });
});

test('the machine’s own, where Chromium’s socket would have too long a path', () => {
  const longest = `/${'x'.repeat(107 - 45 - 1)}`;
  expect(temporaryFolder(longest, 'linux')).toEqual({ TMPDIR: longest });
  expect(temporaryFolder(`${longest}x`, 'linux')).toEqual({});
  expect(temporaryFolder(longest.replace(/x$/, 'ü'), 'linux')).toEqual({});
  expect(temporaryFolder(longest, 'darwin')).toEqual({});
});
