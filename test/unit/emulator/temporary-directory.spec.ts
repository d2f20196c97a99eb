import { expect, test } from '@playwright/test';
import { temporaryFolder } from '../../../src/emulator/disk/browser-disk.ts';

test('gives a browser its temporary directory when it shares the disk', () => {
  expect(temporaryFolder('/tmp/t-1', 'linux')).toEqual({ TMPDIR: '/tmp/t-1' });
  expect(temporaryFolder('/tmp/t-1', 'darwin')).toEqual({ TMPDIR: '/tmp/t-1' });
  // It has other variables there, and no socket whose path could be too long.
  const folder = `C:\\${'x'.repeat(200)}`;
  expect(temporaryFolder(folder, 'win32')).toEqual({ TEMP: folder, TMP: folder });
});

test('uses the machine’s temporary directory when the path of Chromium’s socket would be too long', () => {
  const longest = `/${'x'.repeat(107 - 45 - 1)}`;
  expect(temporaryFolder(longest, 'linux')).toEqual({ TMPDIR: longest });
  expect(temporaryFolder(`${longest}x`, 'linux')).toEqual({});
  expect(temporaryFolder(longest.replace(/x$/, 'ü'), 'linux')).toEqual({});
  expect(temporaryFolder(longest, 'darwin')).toEqual({});
});
