import { expect, manifest, test } from '../../../support/unit/init/project.ts';

/** What `init` says about other vendors' set-ups. */

const CONFIG = 'export default {};\n';

test('finds every line that connects a browser by hand, except in comments and dependencies', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': "export default { use: {\n  connectOptions: { wsEndpoint: 'wss://somewhere' },\n} };\n",
    'tests/fixtures.ts': [
      "import { chromium, test as base } from '@playwright/test';",
      '// chromium.connectOverCDP(url) is what we do here',
      'export const test = base.extend({',
      '  browser: async ({}, use) => {',
      '    const browser = await chromium.connectOverCDP(process.env.CDP_URL);',
      '    await use(browser);',
      '  },',
      '});',
    ].join('\n'),
    'tests/other.js': "const browser = await chromium.connect('ws://localhost:1');\nconst socket = net.connect(1);\n",
    'node_modules/x/index.js': 'chromium.connectOverCDP()',
    'dist/bundle.js': 'chromium.connectOverCDP()',
  });
  expect((await plan()).leftovers).toEqual([
    { file: 'playwright.config.ts', line: 2, what: '`connectOptions`: another remote browser' },
    { file: 'tests/fixtures.ts', line: 5, what: 'a browser connected by hand (connectOverCDP)' },
    { file: 'tests/other.js', line: 1, what: 'a Playwright server connected by hand (connect)' },
  ]);
});

test('finds the setups of Azure, BrowserStack and LambdaTest', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': CONFIG,
    'package.json': manifest(['@playwright/test', '@azure/playwright', 'browserstack-node-sdk'], {
      'test:cloud': 'browserstack-node-sdk playwright test',
    }),
    'playwright.service.config.ts': [
      "import { createAzurePlaywrightConfig, ServiceOS } from '@azure/playwright';",
      "import config from './playwright.config';",
      'export default createAzurePlaywrightConfig(config, { os: ServiceOS.LINUX });',
    ].join('\n'),
    'browserstack.yml': 'userName: somebody\nplatforms: []\n',
    'lambdatest.config.js':
      'const url = `wss://cdp.lambdatest.com/playwright?capabilities=`;\nconst user = process.env.LT_USERNAME;\n',
    'tests/a.spec.ts': "import { test } from '../lambdatest-setup';\n",
    '.github/workflows/ci.yml': 'env:\n  PLAYWRIGHT_SERVICE_URL: wss://somewhere\n',
  });
  const { leftovers, byHand } = await plan();
  expect(leftovers.map(({ file, line, what }) => `${file}:${line} ${what}`)).toEqual([
    ".github/workflows/ci.yml:2 a variable of Azure's Playwright service",
    "browserstack.yml:1 BrowserStack's config",
    "lambdatest.config.js:1 LambdaTest's address or account",
    "lambdatest.config.js:2 LambdaTest's address or account",
    "package.json:8 Azure's Playwright service",
    "package.json:4 BrowserStack's SDK",
    "package.json:9 BrowserStack's SDK",
    "playwright.service.config.ts:1 Azure's Playwright service",
    "tests/a.spec.ts:1 LambdaTest's fixture",
  ]);
  // The plain config is wrapped; what remains is for a person.
  expect(byHand).toEqual([]);
});

test('counts many lines of one kind, and finds none in a clean suite', async ({ project }) => {
  const line = 'await chromium.connectOverCDP(url);\n';
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'tests/many.ts': line.repeat(20) });
  const { leftovers, notes } = await plan();
  expect(leftovers).toHaveLength(8);
  expect(notes).toEqual(['12 more lines: a browser connected by hand (connectOverCDP).']);
  expect((await (await project({ 'playwright.config.ts': CONFIG })).plan()).leftovers).toEqual([]);
});
