import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, manifest, test } from '../../../support/unit/init/folder.ts';

/** What `init` finds in a project, and what it adds beside the config. */

const CONFIG = "import { defineConfig } from '@playwright/test';\n\nexport default defineConfig({});\n";

test('a config, the variables, a script; what is left to do, in the words of the package manager', async ({
  project,
}) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': manifest(['@playwright/test']) });
  const { title, texts, next, byHand } = await plan();
  expect(title).toBe('Playwright, playwright.config.ts');
  expect(Object.keys(texts)).toEqual(['playwright.config.ts', 'package.json', '.env.example']);
  expect(JSON.parse(texts['package.json'] ?? '').scripts).toEqual({ 'test:hosted': 'playwright test' });
  expect(texts['.env.example']?.match(/^\w+=$/gm)).toEqual([
    'POOLWRIGHT_BASE_URL=',
    'POOLWRIGHT_API_KEY=',
    'POOLWRIGHT_POOL=',
  ]);
  expect(byHand).toEqual([]);
  expect(next[0]).toBe('npm i -D poolwright');
  expect(next.at(-1)).toBe('npm run test:hosted');

  const pnpm = await project({
    'playwright.config.ts': CONFIG,
    'pnpm-lock.yaml': '',
    'package.json': manifest(['@playwright/test', 'poolwright'], { 'test:e2e': 'playwright test' }),
  });
  const seen = await pnpm.plan();
  expect(Object.keys(seen.texts)).toEqual(['playwright.config.ts', '.env.example']);
  expect(seen.present).toEqual(['package.json has the script "test:e2e": playwright test']);
  expect(seen.next.slice(1)).toEqual(['pnpm exec poolwright doctor', 'pnpm run test:e2e']);
});

test('package.json keeps its indentation, its line endings and its byte order mark', async ({ project }) => {
  const texts = async (text: string) => {
    const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': text });
    return (await plan()).texts['package.json'];
  };
  expect(await texts('{\n    "scripts": {\n        "a": "b"\n    }\n}\n')).toBe(
    '{\n    "scripts": {\n        "a": "b",\n        "test:hosted": "playwright test"\n    }\n}\n',
  );
  expect(await texts('{\r\n\t"name": "x",\r\n\t"scripts": {}\r\n}')).toBe(
    '{\r\n\t"name": "x",\r\n\t"scripts": {\r\n\t\t"test:hosted": "playwright test"\r\n\t}\r\n}',
  );
  expect(await texts('\uFEFF{ "name": "x" }')).toBe(
    '\uFEFF{ "name": "x", "scripts": {\n    "test:hosted": "playwright test"\n  } }',
  );
  expect(JSON.parse((await texts('{}')) ?? '')).toEqual({ scripts: { 'test:hosted': 'playwright test' } });
  expect(await texts('{ "scripts": { "test:hosted": "own" } }')).toBeUndefined();
});

test('.env.example gets what it does not have', async ({ project }) => {
  const text = async (before: string) => {
    const { plan } = await project({ 'playwright.config.ts': CONFIG, '.env.example': before });
    return (await plan()).texts['.env.example'];
  };
  const whole = await text('A=1');
  expect(whole).toMatch(/^A=1\n\n# .*\nPOOLWRIGHT_BASE_URL=\n/);
  expect(await text(whole ?? '')).toBeUndefined();
  const crlf = await text('A=1\r\n\r\nexport POOLWRIGHT_API_KEY=\r\n# POOLWRIGHT_POOL=e2e\r\n');
  expect(crlf).toMatch(/POOLWRIGHT_POOL=e2e\r\n\r\n# .*\r\nPOOLWRIGHT_BASE_URL=\r\n$/);
});

test('a config in a folder below is found: the package is the one that it lies in', async ({ project }) => {
  const { plan } = await project({
    'package.json': manifest(['poolwright']),
    'package-lock.json': '{}',
    'apps/web/package.json': manifest(['@playwright/test']),
    'apps/web/e2e/playwright.config.mts': CONFIG,
    'node_modules/other/playwright.config.ts': CONFIG,
  });
  const { title, texts, next } = await plan({ ci: 'github' });
  expect(title).toBe('Playwright, apps/web/e2e/playwright.config.mts');
  expect(Object.keys(texts)).toEqual([
    'apps/web/e2e/playwright.config.mts',
    'apps/web/package.json',
    'apps/web/.env.example',
    '.github/workflows/poolwright.yml',
  ]);
  expect(texts['apps/web/package.json']).toContain('"test:hosted": "playwright test -c e2e/playwright.config.mts"');
  // The repository's own package has poolwright already.
  expect(next[0]).toMatch(/^set /);
});

test('several configs: which one is asked for, with the flag', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': CONFIG,
    'playwright.config.js': "module.exports = { testDir: './tests' };\n",
    'one/playwright.config.ts': CONFIG,
    'two/playwright.config.ts': CONFIG,
    'ci/playwright.ci.config.ts': CONFIG,
  });
  await expect(plan()).rejects.toThrow(
    'There are 2 Playwright configs: playwright.config.ts, playwright.config.js. Playwright itself takes playwright.config.ts and ignores the others. Name yours: --config playwright.config.ts',
  );
  expect(Object.keys((await plan({ config: 'playwright.config.js' })).texts)).toContain('playwright.config.js');
  expect(Object.keys((await plan({ config: 'one' })).texts)).toContain('one/playwright.config.ts');
  const ci = await plan({ config: 'ci/playwright.ci.config.ts' });
  expect(ci.title).toBe('Playwright, ci/playwright.ci.config.ts');
  await expect(plan({ config: 'three' })).rejects.toThrow('--config: there is no three.');
  await expect(plan({ config: 'ci' })).rejects.toThrow('--config: there is no playwright.config.* in ci.');
  await expect(
    (await project({ 'a/playwright.config.ts': CONFIG, 'b/playwright.config.ts': CONFIG })).plan(),
  ).rejects.toThrow(/^There are 2 Playwright configs: a.playwright\.config\.ts, b.playwright\.config\.ts\. Name yours/);
});

test('no tests, and files that cannot be used', async ({ project }) => {
  const { plan, folder } = await project({ 'package.json': manifest(['puppeteer']) });
  await expect(plan()).rejects.toThrow(
    `There is no playwright.config.* in ${folder} or below it, and no Puppeteer with`,
  );
  await expect(plan({ runner: 'playwright' })).rejects.toThrow('There is no playwright.config.*');
  const broken = await project({ 'playwright.config.ts': CONFIG, 'package.json': '{ "name": ' });
  await expect(broken.plan()).rejects.toThrow(/package\.json is no JSON\. Mend it first: nothing was changed\.$/);
  const utf16 = await project({});
  await writeFile(join(utf16.folder, 'playwright.config.ts'), Buffer.from(`\uFEFF${CONFIG}`, 'utf16le'));
  await expect(utf16.plan()).rejects.toThrow(/playwright\.config\.ts is not UTF-8\. Nothing was changed\.$/);
});

test('what cannot be edited has the lines to write, in its own module system', async ({ project }) => {
  const common = await project({
    'playwright.config.js': 'if (process.env.CI) module.exports = {};\nelse module.exports = { workers: 1 };\n',
  });
  expect((await common.plan()).byHand).toEqual([
    {
      file: 'playwright.config.js',
      why: 'exports its config inside of other code',
      lines: [
        "const { withHostedBrowsers } = require('poolwright');",
        'module.exports = withHostedBrowsers(/* your config */);',
      ],
    },
  ]);
  const module = await project({ 'playwright.config.ts': 'export default function config() {}\n' });
  expect((await module.plan()).byHand[0]?.lines[0]).toBe("import { withHostedBrowsers } from 'poolwright';");
  const scripts = await project({ 'playwright.config.ts': CONFIG, 'package.json': '{ "scripts": [] }' });
  expect((await scripts.plan()).byHand[0]).toMatchObject({ file: 'package.json', why: 'has no object in "scripts"' });
});

test('a second run finds all in place', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': manifest(['@playwright/test']) });
  const { texts } = await plan({ ci: 'gitlab' });
  const again = await project({ ...texts });
  const second = await again.plan({ ci: 'gitlab' });
  expect(second.texts).toEqual({});
  expect(second.notes).toEqual(['poolwright is not in package.json yet: npm i -D poolwright']);
  expect(second.byHand).toEqual([]);
  expect(second.present).toEqual([
    'playwright.config.ts calls withHostedBrowsers',
    'package.json has the script "test:hosted": playwright test',
    '.env.example has the variables',
    '.gitlab-ci.yml names poolwright',
  ]);
});

test('a diff is what `git apply` takes, and shows no carriage returns', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG.replaceAll('\n', '\r\n') });
  const [config, variables] = (await plan()).diffs;
  expect(config).toBe(
    [
      '--- a/playwright.config.ts',
      '+++ b/playwright.config.ts',
      '@@ -1,3 +1,4 @@',
      " import { defineConfig } from '@playwright/test';",
      "+import { withHostedBrowsers } from 'poolwright';",
      ' ',
      '-export default defineConfig({});',
      '+export default defineConfig(withHostedBrowsers({}));',
      '',
    ].join('\n'),
  );
  expect(variables).toMatch(/^--- \/dev\/null\n\+\+\+ b\/\.env\.example\n@@ -0,0 \+1,6 @@\n/);
});

test('an old Playwright, and Puppeteer tests beside it, are said', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': CONFIG,
    'package.json': manifest(['@playwright/test', 'puppeteer', 'vitest']),
    'node_modules/@playwright/test/package.json': '{ "version": "1.9.2" }',
  });
  expect((await plan()).notes).toEqual([
    '@playwright/test is 1.9.2 here, and poolwright needs 1.48 or later.',
    'There are Puppeteer tests, too: npx poolwright init --runner vitest',
  ]);
});

test('a config that cannot be read: it is a folder', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts/index.ts': CONFIG });
  await expect(plan()).rejects.toThrow(/playwright\.config\.ts cannot be read \(EISDIR\)\. Nothing was changed\.$/);
});

test('uncommitted changes are said, of what is edited', async ({ project }) => {
  const { plan, folder } = await project({ 'playwright.config.ts': CONFIG, 'package.json': '{}', 'other.ts': '' });
  const git = async (...args: string[]) => {
    // Named, so that it never is the repository around this folder.
    const where = [`--git-dir=${join(folder, '.git')}`, `--work-tree=${folder}`];
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.hooksPath='];
    await promisify(execFile)('git', [...where, ...who, ...args], { cwd: folder });
  };
  await rm(join(folder, '.git'), { recursive: true });
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'first');
  expect((await plan()).notes).toEqual([]);
  await writeFile(join(folder, 'playwright.config.ts'), `${CONFIG}// more\n`);
  await writeFile(join(folder, 'other.ts'), '// more\n');
  expect((await plan()).notes).toEqual(['playwright.config.ts has changes that are not committed.']);
});
