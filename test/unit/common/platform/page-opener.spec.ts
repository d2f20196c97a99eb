import { expect, test } from '@playwright/test';
import { pageOpener } from '../../../../src/common/platform/page-opener.ts';

test('a page opens only where there is a screen', () => {
  expect(pageOpener({}, 'linux')).toBe(null);
  expect(pageOpener({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open']);
  expect(pageOpener({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open']);
  expect(pageOpener({}, 'darwin')).toEqual(['open']);
  expect(pageOpener({}, 'win32')?.[0]).toBe('explorer.exe');
  expect(pageOpener({ DISPLAY: ':0' }, 'freebsd')).toBe(null);
});
