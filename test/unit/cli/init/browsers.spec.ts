import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, manifest, test } from '../../../support/unit/init/project.ts';

/** `init --browsers`: the user's own browsers instead of the service's. */

const CONFIG = "import { defineConfig } from '@playwright/test';\n\nexport default defineConfig({});\n";
const SUITE = { 'package.json': manifest(['@playwright/test']), 'playwright.config.ts': CONFIG };
const ROOT = resolve(import.meta.dirname, '../../../..');

test('addresses: the config names one, and the steps start a browser there', async ({ project }) => {
  const { plan } = await project(SUITE);
  const { texts, next } = await plan({ browsers: 'addresses' });
  expect(texts['playwright.hosted.config.ts']).toBe(
    [
      '// Runs the tests of the other config on your own browsers.',
      "import { withHostedBrowsers } from 'poolwright';",
      "import config from './playwright.config.js';",
      '',
      "export default withHostedBrowsers(config, { browsers: ['http://localhost:9222'] });",
      '',
    ].join('\n'),
  );
  expect(next).toEqual([
    'npm i -D poolwright',
    expect.stringContaining('start a browser (chromium --headless --remote-debugging-port=9222'),
    'POOLWRIGHT_CDP_URL=http://localhost:9222 npx poolwright doctor',
    'npm run test:hosted',
  ]);
});

test('provider: writes the file of examples/own-browsers, beside the config', async ({ project }) => {
  const { plan } = await project({ 'package.json': manifest([]), 'e2e/playwright.config.mjs': CONFIG });
  const { texts, next } = await plan({ browsers: 'provider' });
  expect(texts['e2e/browsers.mjs']).toBe(readFileSync(join(ROOT, 'examples/own-browsers/browsers.mjs'), 'utf8'));
  expect(texts['e2e/playwright.hosted.config.mjs']).toContain(
    "export default withHostedBrowsers(config, { provider: './browsers.mjs' });",
  );
  expect(next).toContain('POOLWRIGHT_PROVIDER=e2e/browsers.mjs npx poolwright doctor');
  expect(next.join()).not.toContain('POOLWRIGHT_API_KEY');
});

test('a provider needs no package besides this one', async ({ project }) => {
  const { plan } = await project({ ...SUITE, 'package.json': manifest(['@playwright/test', 'poolwright']) });
  const { next } = await plan({ browsers: 'provider' });
  expect(next.filter((step) => /\bnpm (i|install)\b/.test(step))).toEqual([]);
});

test('changes the config that it wrote for the service, and no other', async ({ project }) => {
  const first = await (await project(SUITE)).plan();
  const config = first.texts['playwright.hosted.config.ts'] ?? '';
  const again = await project({ ...SUITE, 'playwright.hosted.config.ts': config });
  expect((await again.plan({ browsers: 'addresses' })).texts['playwright.hosted.config.ts']).toContain('browsers:');
  const other = await project({
    ...SUITE,
    'playwright.hosted.config.ts': config
      .replace('(config)', "(config, { browsers: ['http://localhost:9222'] })")
      .replace('hosted browsers', 'your own browsers'),
  });
  expect((await other.plan({ browsers: 'provider' })).texts['playwright.hosted.config.ts']).toContain('provider:');
  expect((await again.plan()).texts).not.toHaveProperty(['playwright.hosted.config.ts']);

  const edited = await project({ ...SUITE, 'playwright.hosted.config.ts': config.replace('(config)', '(config, {})') });
  expect((await edited.plan({ browsers: 'addresses' })).byHand).toEqual([
    {
      file: 'playwright.hosted.config.ts',
      why: 'does not name your own browsers',
      lines: ["{ browsers: ['http://localhost:9222'] }"],
    },
  ]);
  const named = config.replace('(config)', "(config, { provider: './mine.mjs' })");
  const kept = await (await project({ ...SUITE, 'playwright.hosted.config.ts': named, 'browsers.mjs': '' })).plan({
    browsers: 'provider',
  });
  expect(kept.byHand).toEqual([]);
  expect(kept.present).toEqual(
    expect.arrayContaining([
      'browsers.mjs, which is not changed',
      'playwright.hosted.config.ts calls withHostedBrowsers',
    ]),
  );
});

test('other runners get poolwright.config.mjs', async ({ project }) => {
  const files = { 'package.json': manifest(['puppeteer', 'mocha', 'poolwright']) };
  const { texts } = await (await project(files)).plan({ browsers: 'provider' });
  expect(texts['poolwright.config.mjs']).toBe("export default { provider: './browsers.mjs' };\n");
  expect(texts).toHaveProperty(['browsers.mjs']);
  const before = { ...files, 'poolwright.config.mjs': texts['poolwright.config.mjs'] ?? '' };
  const changed = await (await project(before)).plan({ browsers: 'addresses' });
  expect(changed.texts['poolwright.config.mjs']).toBe("export default { browsers: ['http://localhost:9222'] };\n");
  const own = await project({ ...files, 'poolwright.config.json': '{ "workers": 2 }' });
  expect((await own.plan({ browsers: 'addresses' })).byHand).toMatchObject([
    { file: 'poolwright.config.json', lines: ["{ browsers: ['http://localhost:9222'] }"] },
  ]);
});
