import { expect, type FullConfig, test } from '@playwright/test';
import {
  asksForWindow,
  ineffectiveLaunchOptions,
} from '../../../../../src/runners/playwright-test/setup/global-setup.ts';

const project = (name: string, use: object) => ({ name, use }) as FullConfig['projects'][number];

test('lists the launch options of hosted projects once, and how to use them', () => {
  const projects = [
    project('us', { hosted: {}, headless: false, channel: 'msedge' }),
    project('de', { hosted: {}, headless: false, launchOptions: { slowMo: 50, args: undefined } }),
    // Our own fixture.
    project('quiet', { hosted: {}, headless: true, launchOptions: {}, channel: () => undefined }),
    project('local', { hosted: false, launchOptions: { devtools: true } }),
    project('unwrapped', { channel: 'chrome' }),
  ];
  const note = ineffectiveLaunchOptions(projects, ['node', 'cli.js', 'test']);
  expect(note).toBe(
    'no effect on hosted browsers ("us", "de"): channel, launchOptions.slowMo. ' +
      "To use Playwright's own browsers, set POOLWRIGHT_SERVICE=local",
  );
});

test('prints nothing without launch options', () => {
  expect(ineffectiveLaunchOptions([project('', { hosted: {}, headless: false, viewport: null })], ['--debug'])).toBe(
    null,
  );
});

test('names no project when the config has none', () => {
  const projects = [project('', { hosted: {}, channel: 'chrome' })];
  expect(ineffectiveLaunchOptions(projects, [])).toMatch(/^no effect on hosted browsers: channel\. /);
  for (const args of [
    ['test', '--debug=cli'],
    ['test', '--debug', 'cli'],
  ])
    expect(ineffectiveLaunchOptions(projects, args)).toMatch(/^no effect on hosted browsers: --debug=cli, channel\. /);
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
