import { expect, type FullConfig, test } from '@playwright/test';
import { pageOpener } from '../../../../../src/common/platform/page-opener.ts';
import { asksForWindow } from '../../../../../src/runners/playwright-test/setup/watch-page.ts';

const project = (name: string, use: object) => ({ name, use }) as FullConfig['projects'][number];

test('a window is asked for by a selected hosted project only', () => {
  const projects = [
    project('headed', { hosted: {}, headless: false }),
    project('launches', { hosted: {}, launchOptions: { headless: false } }),
    project('headless', { hosted: {}, headless: true, launchOptions: { headless: false } }),
    project('quiet', { hosted: {} }),
    project('local', { hosted: false, headless: false }),
    project('unwrapped', { headless: false }),
  ];
  const asking = projects.filter(({ name }) => asksForWindow(projects, new Set([name]))).map(({ name }) => name);
  expect(asking).toEqual(['headed', 'launches']);
  expect(asksForWindow(projects, new Set(['quiet', 'local']))).toBe(false);
});

test('a page opens only where there is a screen', () => {
  expect(pageOpener({}, 'linux')).toBe(null);
  expect(pageOpener({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open']);
  expect(pageOpener({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open']);
  expect(pageOpener({}, 'darwin')).toEqual(['open']);
  expect(pageOpener({}, 'win32')?.[0]).toBe('explorer.exe');
  expect(pageOpener({ DISPLAY: ':0' }, 'freebsd')).toBe(null);
});
