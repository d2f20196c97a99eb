import { expect, type FullConfig, test } from '@playwright/test';
import {
  asksForWindow,
  ineffectiveLaunchOptions,
} from '../../../../../src/runners/playwright-test/setup/launch-options.ts';

const project = (name: string, use: object) => ({ name, use }) as FullConfig['projects'][number];

test('lists the launch options of hosted projects once, and how to use them', () => {
  const note = ineffectiveLaunchOptions([
    project('us', { hosted: {}, headless: false, channel: 'msedge' }),
    project('de', { hosted: {}, headless: false, launchOptions: { slowMo: 50, args: undefined } }),
    project('quiet', { hosted: {}, headless: true, launchOptions: {} }),
    project('local', { hosted: false, launchOptions: { devtools: true } }),
    project('unwrapped', { channel: 'chrome' }),
  ]);
  expect(note).toBe(
    'no effect on hosted browsers ("us", "de"): channel, launchOptions.slowMo. ' +
      "To use Playwright's own browsers, set POOLWRIGHT_SERVICE=local",
  );
});

test('prints nothing without launch options', () => {
  expect(ineffectiveLaunchOptions([project('', { hosted: {}, headless: false, viewport: null })])).toBe(null);
});

test('names no project when the config has none', () => {
  expect(ineffectiveLaunchOptions([project('', { hosted: {}, channel: 'chrome' })])).toMatch(
    /^no effect on hosted browsers: channel\. /,
  );
});

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
