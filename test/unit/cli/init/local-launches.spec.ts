import { expect, test } from '../../../support/unit/init/project.ts';

const CONFIG = 'export default {};\n';

test('finds every line that starts Chromium, except in comments and dependencies', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': CONFIG,
    'tests/fixtures.ts': [
      "import { chromium, test as base } from '@playwright/test';",
      '// chromium.launch() is what we do here',
      'export const test = base.extend({',
      '  browser: async ({}, use) => {',
      '    const browser = await chromium.launch();',
      '    await use(browser);',
      '  },',
      '});',
    ].join('\n'),
    'tests/other.js':
      "const context = await chromium.launchPersistentContext('profile');\nchromium.connectOverCDP(1);\n",
    'node_modules/x/index.js': 'chromium.launch()',
    'dist/bundle.js': 'chromium.launch()',
  });
  const { launches, lines } = await plan();
  expect(launches).toEqual([
    { file: 'tests/fixtures.ts', line: 5 },
    { file: 'tests/other.js', line: 1 },
  ]);
  const text = lines.join('\n').replaceAll('\\', '/');
  expect(text).toContain('the code starts itself: tests/fixtures.ts:5, tests/other.js:1');
});

test('counts many lines, and finds none in a clean suite', async ({ project }) => {
  const line = 'await chromium.launch();\n';
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'tests/many.ts': line.repeat(20) });
  const { launches, notes } = await plan();
  expect(launches).toHaveLength(8);
  expect(notes).toEqual(['12 more lines start a browser.']);
  const clean = await (await project({ 'playwright.config.ts': CONFIG })).plan();
  expect(clean.launches).toEqual([]);
  expect(clean.lines.join('\n')).not.toContain('this machine');
});
