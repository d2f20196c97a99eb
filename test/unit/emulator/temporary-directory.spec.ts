import { expect, test } from '@playwright/test';
import { temporaryDirectory } from '../../../src/emulator/disk/browser-disk.ts';

test('gives a browser its temporary directory when it shares the disk', () => {
  expect(temporaryDirectory('/tmp/t-1', 'linux')).toEqual({ TMPDIR: '/tmp/t-1' });
  expect(temporaryDirectory('/tmp/t-1', 'darwin')).toEqual({ TMPDIR: '/tmp/t-1' });
  // It has other variables there, and no socket whose path could be too long.
  const directory = `C:\\${'x'.repeat(200)}`;
  expect(temporaryDirectory(directory, 'win32')).toEqual({ TEMP: directory, TMP: directory });
});

test('uses the machine’s temporary directory when the path of Chromium’s socket would be too long', () => {
  const longest = `/${'x'.repeat(107 - 45 - 1)}`;
  expect(temporaryDirectory(longest, 'linux')).toEqual({ TMPDIR: longest });
  expect(temporaryDirectory(`${longest}x`, 'linux')).toEqual({});
  expect(temporaryDirectory(longest.replace(/x$/, 'ü'), 'linux')).toEqual({});
  expect(temporaryDirectory(longest, 'darwin')).toEqual({});
});
