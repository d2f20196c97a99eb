import { CI_PROVIDERS } from '../../../../src/cli/init/plan-ci.ts';
import { expect, manifest, test } from '../../../support/unit/init/project.ts';

/** `init` for Playwright: a second config, beside one that stays as it is. */

const CONFIG = "import { defineConfig } from '@playwright/test';\n\nexport default defineConfig({});\n";

test('writes a config that wraps the existing one, in its language', async ({ project }) => {
  const written = async (file: string, text = CONFIG) => {
    const { plan } = await project({ 'package.json': manifest(['@playwright/test']), [file]: text });
    const { texts, byHand } = await plan({ config: file });
    expect(byHand).toEqual([]);
    expect(texts[file]).toBeUndefined();
    const [[name, config] = []] = Object.entries(texts);
    const { scripts } = JSON.parse(texts['package.json'] ?? '{}');
    expect(scripts).toEqual({ 'test:hosted': `playwright test -c ${name}` });
    return [name, /(?:from|require\()\s*'(\..*?)'/.exec(config ?? '')?.[1]];
  };
  expect(await written('playwright.config.ts')).toEqual(['playwright.hosted.config.ts', './playwright.config.js']);
  expect(await written('playwright.config.mts')).toEqual(['playwright.hosted.config.mts', './playwright.config.mjs']);
  expect(await written('playwright.config.cts')).toEqual(['playwright.hosted.config.cts', './playwright.config.cjs']);
  expect(await written('playwright.config.js')).toEqual(['playwright.hosted.config.js', './playwright.config.js']);
  expect(await written('playwright.config.mjs')).toEqual(['playwright.hosted.config.mjs', './playwright.config.mjs']);
  expect(await written('playwright.config.cjs', 'module.exports = {};\n')).toEqual([
    'playwright.hosted.config.cjs',
    './playwright.config.cjs',
  ]);
  expect(await written('e2e/pw-ct.ts')).toEqual(['e2e/pw-ct.hosted.ts', './pw-ct.js']);
});

test('finds the config of component tests, where there is no other, and names the Playwright that they need', async ({
  project,
}) => {
  const component =
    "import { defineConfig } from '@playwright/experimental-ct-react';\nexport default defineConfig({});\n";
  const installed = (name: string) => ({ [`node_modules/${name}/package.json`]: '{ "version": "1.62.1" }' });
  const files = {
    'package.json': manifest(['@playwright/experimental-ct-react']),
    'playwright-ct.config.ts': component,
    ...installed('@playwright/experimental-ct-core'),
  };
  const first = await (await project(files)).plan();
  expect(Object.keys(first.texts)).toContain('playwright-ct.hosted.config.ts');
  expect(JSON.parse(first.texts['package.json'] ?? '').scripts).toEqual({
    'test:hosted': 'playwright test -c playwright-ct.hosted.config.ts',
  });
  expect(first.notes).toEqual([
    'The component tests have Playwright 1.62.1, and poolwright needs the same @playwright/test: npm i -D @playwright/test@1.62.1',
  ]);
  const same = await project({ ...files, ...installed('@playwright/test') });
  expect((await same.plan()).notes).toEqual([]);
  const both = await project({ ...files, ...installed('@playwright/test'), 'playwright.config.ts': CONFIG });
  expect(Object.keys((await both.plan()).texts)).toContain('playwright.hosted.config.ts');
});

test('uses a config that calls the wrapper, and does not change a foreign playwright.hosted.config', async ({
  project,
}) => {
  const wrapped = await project({
    'package.json': manifest(['@playwright/test', 'poolwright']),
    'playwright.config.ts': CONFIG.replace('({})', '(withHostedBrowsers({}))'),
  });
  const seen = await wrapped.plan();
  expect(seen.present).toContain('playwright.config.ts calls withHostedBrowsers');
  expect(JSON.parse(seen.texts['package.json'] ?? '').scripts).toEqual({ 'test:hosted': 'playwright test' });
  const comment = await project({ 'playwright.config.ts': `// withHostedBrowsers(…) did not work\n${CONFIG}` });
  expect(Object.keys((await comment.plan()).texts)).toContain('playwright.hosted.config.ts');

  const foreign = await project({ 'playwright.config.ts': CONFIG, 'playwright.hosted.config.ts': CONFIG });
  const { texts, byHand } = await foreign.plan();
  expect(texts).not.toHaveProperty(['playwright.hosted.config.ts']);
  expect(byHand).toMatchObject([
    { file: 'playwright.hosted.config.ts', why: 'exists and does not call withHostedBrowsers' },
  ]);
  expect(byHand[0]?.lines).toContain('export default withHostedBrowsers(config);');
});

test('warns when Playwright is too old', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': CONFIG,
    'node_modules/@playwright/test/package.json': '{ "version": "1.9.2" }',
  });
  expect((await plan()).notes).toEqual(['@playwright/test is 1.9.2 here, and poolwright needs 1.48 or later.']);
});

test('the pipeline installs the browsers that stay local', async ({ project }) => {
  const install = async (config: string) => {
    const { plan } = await project({ 'package.json': manifest(['@playwright/test']), 'playwright.config.ts': config });
    const pipelines = await Promise.all(
      CI_PROVIDERS.map(
        async (ci) => Object.entries((await plan({ ci })).texts).find(([file]) => /\.yml$/.test(file))?.[1],
      ),
    );
    return pipelines.map((text = '') => /install --with-deps (?!chromium)(.*)$/m.exec(text)?.[1] ?? null);
  };
  const of = (uses: string) => `export default { projects: [{ name: 'chromium' },\n${uses}\n] };`;
  const three = of("{ use: { ...devices['Desktop Firefox'] } },\n{ use: { ...devices['iPhone 15'] } },");
  expect(await install(three)).toEqual(Array(4).fill('firefox webkit'));
  expect(await install(of("{ use: { browserName: 'webkit' } },"))).toEqual(Array(4).fill('webkit'));
  expect(await install(of("// { use: { ...devices['Desktop Firefox'] } },"))).toEqual(Array(4).fill(null));
});
