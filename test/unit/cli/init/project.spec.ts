import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makePlan } from '../../../../src/cli/init/make-plan.ts';
import { planLines } from '../../../../src/cli/init/show.ts';
import { expect, manifest, test } from '../../../support/unit/init/project.ts';

/** What `init` finds in a project, and what it adds beside the config. */

const CONFIG = "import { defineConfig } from '@playwright/test';\n\nexport default defineConfig({});\n";
const COMMAND = 'playwright test -c playwright.hosted.config.ts';

test('plans config, script and ignored results, and next steps for the package manager', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': manifest(['@playwright/test']) });
  const { title, texts, next, byHand } = await plan();
  expect(title).toBe('Playwright, playwright.config.ts');
  expect(Object.keys(texts)).toEqual(['playwright.hosted.config.ts', 'package.json', '.gitignore']);
  expect(JSON.parse(texts['package.json'] ?? '').scripts).toEqual({ 'test:hosted': COMMAND });
  expect(texts['.gitignore']).toBe('test-results/\n');
  expect(byHand).toEqual([]);
  expect(next[0]).toBe('npm i -D poolwright');
  expect(next.at(-1)).toBe('npm run test:hosted');

  const pnpm = await project({
    'playwright.config.ts': CONFIG,
    'pnpm-lock.yaml': '',
    'package.json': manifest(['@playwright/test', 'poolwright'], { 'test:hosted': COMMAND }),
    '.gitignore': '/test-results/\n',
  });
  const seen = await pnpm.plan();
  expect(Object.keys(seen.texts)).toEqual(['playwright.hosted.config.ts']);
  expect(seen.present).toEqual([
    `package.json has the script "test:hosted": ${COMMAND}`,
    '.gitignore names test-results/',
  ]);
  expect(seen.next.slice(1)).toEqual(['pnpm exec poolwright doctor', 'pnpm run test:hosted']);
});

test('keeps the indentation, line endings and byte order mark of package.json', async ({ project }) => {
  const texts = async (text: string) => {
    const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': text });
    return (await plan()).texts['package.json'];
  };
  expect(await texts('{\n    "scripts": {\n        "a": "b"\n    }\n}\n')).toBe(
    '{\n    "scripts": {\n        "a": "b",\n        "test:hosted": "playwright test -c playwright.hosted.config.ts"\n    }\n}\n',
  );
  expect(await texts('{\r\n\t"name": "x",\r\n\t"scripts": {}\r\n}')).toBe(
    '{\r\n\t"name": "x",\r\n\t"scripts": {\r\n\t\t"test:hosted": "playwright test -c playwright.hosted.config.ts"\r\n\t}\r\n}',
  );
  // One line becomes several; in a file of several lines, only those beside the script change.
  const scripts = '"scripts": {\n    "test:hosted": "playwright test -c playwright.hosted.config.ts"\n  }';
  expect(await texts('\uFEFF{ "name": "x" }')).toBe(`\uFEFF{\n  "name": "x",\n  ${scripts}\n}`);
  const rest = '"files": ["a",  "b"],\n\n  "dependencies": { "c": "*" }\n}\n';
  expect(await texts(`{\n  "name": "x",\n  ${rest}`)).toBe(`{\n  "name": "x",\n  ${scripts},\n  ${rest}`);
  expect(await texts(`{\n  ${rest}`)).toBe(`{\n  ${scripts},\n  ${rest}`);
  expect(JSON.parse((await texts('{}')) ?? '')).toEqual({ scripts: { 'test:hosted': COMMAND } });
  expect(await texts('{ "scripts": { "test:hosted": "own" } }')).toBeUndefined();
});

test('shows a package.json in one line by its first characters', async ({ project }) => {
  const dependencies = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`package-${n}`, '*']));
  const text = JSON.stringify({ name: 'x', dependencies });
  const { directory } = await project({ 'playwright.config.ts': CONFIG, 'package.json': text });
  const { plan } = await makePlan(directory, {});
  const lines = planLines(plan, directory, false);
  const at = lines.indexOf('+++ b/package.json');
  expect(lines[at + 2]).toMatch(/^-\{"name":"x","dependencies":\{"package-0".*…$/);
  expect(lines.slice(at + 3, at + 7)).toEqual([
    '+{',
    '+  "name": "x",',
    '+  "scripts": {',
    `+    "test:hosted": "${COMMAND}"`,
  ]);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(120);
});

test('adds the results to .gitignore once, and only in a repository', async ({ project }) => {
  const text = async (files: Record<string, string>, below?: string) => {
    const { plan } = await project(files);
    const { texts, present } = await plan({}, below);
    return present.includes('.gitignore names test-results/')
      ? 'present'
      : texts[`${below ? `${below}/` : ''}.gitignore`];
  };
  const suite = { 'playwright.config.ts': CONFIG };
  expect(await text({ ...suite, '.gitignore': 'node_modules' })).toBe('node_modules\ntest-results/\n');
  expect(await text({ ...suite, '.gitignore': 'dist/\r\n' })).toBe('dist/\r\ntest-results/\r\n');
  for (const line of ['test-results', '/test-results/', '**/test-results/', 'test-results/*'])
    expect(await text({ ...suite, '.gitignore': `a\n${line}\n` }), line).toBe('present');
  expect(await text({ ...suite, '.gitignore': 'my-test-results/\n' })).toBe('my-test-results/\ntest-results/\n');
  // The repository's own counts for all of its packages.
  const web = { 'web/package.json': '{}', 'web/playwright.config.ts': CONFIG };
  expect(await text({ ...web, '.gitignore': 'test-results/\n' }, 'web')).toBe('present');
  expect(await text(web, 'web')).toBe('test-results/\n');
});

test('prints commands for the directory where init was started, also in the root of a monorepo', async ({
  project,
}) => {
  const web = {
    'apps/web/package.json': manifest(['@playwright/test'], { e2e: COMMAND }),
    'apps/web/playwright.config.ts': CONFIG,
  };
  const next = async (files: Record<string, string>, below?: string) => {
    const seen = await (await project({ ...web, ...files })).plan({}, below);
    return seen.next.filter((step) => !step.startsWith('set '));
  };
  const workspaces = JSON.stringify({ workspaces: ['apps/*', '!apps/other'] });
  expect(await next({ 'package.json': workspaces })).toEqual([
    'npm -w apps/web i -D poolwright',
    'npx -w apps/web poolwright doctor',
    'npm -w apps/web run test:hosted',
  ]);
  expect((await next({ 'package.json': workspaces }, 'apps/web')).at(-1)).toBe('npm run test:hosted');
  expect((await next({ 'package.json': '{}' })).at(-1)).toBe('npm --prefix apps/web run test:hosted');
  expect((await next({ 'pnpm-lock.yaml': '' })).at(-1)).toBe('pnpm -C apps/web run test:hosted');
  expect((await next({ 'yarn.lock': '' })).at(-1)).toBe('yarn --cwd apps/web run test:hosted');
  expect((await next({ 'bun.lock': '' })).at(-1)).toBe('cd apps/web && bun run test:hosted');
});

test('finds a config in a subdirectory, and uses its package', async ({ project }) => {
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
    'apps/web/e2e/playwright.hosted.config.mts',
    'apps/web/package.json',
    'apps/web/.gitignore',
    '.github/workflows/poolwright.yml',
  ]);
  expect(texts['apps/web/package.json']).toContain(
    '"test:hosted": "playwright test -c e2e/playwright.hosted.config.mts"',
  );
  // The repository's own package has poolwright already.
  expect(next[0]).toMatch(/^set /);
});

test('asks for --config when there are several configs', async ({ project }) => {
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
  expect(Object.keys((await plan({ config: 'playwright.config.js' })).texts)).toContain('playwright.hosted.config.js');
  expect(Object.keys((await plan({ config: 'one' })).texts)).toContain('one/playwright.hosted.config.ts');
  const ci = await plan({ config: 'ci/playwright.ci.config.ts' });
  expect(ci.title).toBe('Playwright, ci/playwright.ci.config.ts');
  await expect(plan({ config: 'three' })).rejects.toThrow('--config: there is no three.');
  await expect(plan({ config: 'ci' })).rejects.toThrow(
    '--config: there is no playwright.config.* or playwright-ct.config.* in ci.',
  );
  await expect(
    (await project({ 'a/playwright.config.ts': CONFIG, 'b/playwright.config.ts': CONFIG })).plan(),
  ).rejects.toThrow(/^There are 2 Playwright configs: a.playwright\.config\.ts, b.playwright\.config\.ts\. Name yours/);
});

test('fails when there are no tests, or a file is invalid', async ({ project }) => {
  const { plan, directory } = await project({ 'package.json': manifest([]) });
  await expect(plan()).rejects.toThrow(
    `There is no playwright.config.* in ${directory} or below it, and no Puppeteer with`,
  );
  await expect((await project({})).plan()).rejects.toThrow(/or below it\. Run init in your project's directory/);
  const script = await project({ 'package.json': manifest(['puppeteer', 'ava']) });
  await expect(script.plan()).rejects.toThrow("import { leaseBrowser } from 'poolwright/puppeteer'");
  await expect(plan({ runner: 'playwright' })).rejects.toThrow('There is no playwright.config.*');
  const broken = await project({ 'playwright.config.ts': CONFIG, 'package.json': '{ "name": ' });
  await expect(broken.plan()).rejects.toThrow(/package\.json is not valid JSON\. Fix it first: nothing was changed\.$/);
  const utf16 = await project({});
  await writeFile(join(utf16.directory, 'playwright.config.ts'), Buffer.from(`\uFEFF${CONFIG}`, 'utf16le'));
  await expect(utf16.plan()).rejects.toThrow(/playwright\.config\.ts is not UTF-8\. Nothing was changed\.$/);
});

test('prints the line to add when package.json has no place for the script', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': '{ "scripts": [] }' });
  expect((await plan()).byHand[0]).toMatchObject({ file: 'package.json', why: 'has no object in "scripts"' });
});

test('changes nothing in a second run', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG, 'package.json': manifest(['@playwright/test']) });
  const { texts } = await plan({ ci: 'gitlab' });
  const again = await project({ 'playwright.config.ts': CONFIG, ...texts });
  const second = await again.plan({ ci: 'gitlab' });
  expect(second.texts).toEqual({});
  expect(second.notes).toEqual(['poolwright is not in package.json yet: npm i -D poolwright']);
  expect(second.byHand).toEqual([]);
  expect(second.present).toEqual([
    'playwright.hosted.config.ts calls withHostedBrowsers',
    `package.json has the script "test:hosted": ${COMMAND}`,
    '.gitignore names test-results/',
    '.gitlab-ci.yml names poolwright',
  ]);
});

test('makes a diff that `git apply` accepts, without carriage returns', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts': CONFIG, '.gitignore': 'dist/\r\n' });
  const [config, ignored] = (await plan()).diffs;
  expect(ignored).toBe(
    ['--- a/.gitignore', '+++ b/.gitignore', '@@ -1,1 +1,2 @@', ' dist/', '+test-results/', ''].join('\n'),
  );
  expect(config).toMatch(/^--- \/dev\/null\n\+\+\+ b\/playwright\.hosted\.config\.ts\n@@ -0,0 \+1,5 @@\n/);
});

test('notes Puppeteer tests next to a Playwright suite', async ({ project }) => {
  const { plan } = await project({
    'playwright.config.ts': CONFIG,
    'package.json': manifest(['@playwright/test', 'puppeteer', 'vitest']),
  });
  expect((await plan()).notes).toEqual([
    'This package also has Puppeteer with Vitest: npx poolwright init --runner vitest',
  ]);
  expect((await plan({ runner: 'playwright' })).notes).toEqual([]);
});

test('notes each other runner of Puppeteer tests', async ({ project }) => {
  const { plan } = await project({
    'package.json': manifest(['puppeteer', 'vitest', 'jest-puppeteer', 'mocha', 'poolwright']),
  });
  const { title, notes } = await plan();
  expect(title).toBe('Puppeteer with Vitest');
  expect(notes).toEqual([
    'This package also has Puppeteer with Jest: npx poolwright init --runner jest',
    'This package also has Puppeteer with Mocha: npx poolwright init --runner mocha',
  ]);
  expect((await plan({ runner: 'mocha' })).notes).toEqual([]);
});

test('fails when the config is a directory', async ({ project }) => {
  const { plan } = await project({ 'playwright.config.ts/index.ts': CONFIG });
  await expect(plan()).rejects.toThrow(/playwright\.config\.ts cannot be read \(EISDIR\)\. Nothing was changed\.$/);
});

test('notes uncommitted changes of edited files', async ({ project }) => {
  const { plan, directory } = await project({ 'playwright.config.ts': CONFIG, 'package.json': '{}', 'other.ts': '' });
  const git = async (...args: string[]) => {
    // Named, so that it never is the repository around this directory.
    const where = [`--git-dir=${join(directory, '.git')}`, `--work-tree=${directory}`];
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.hooksPath='];
    await promisify(execFile)('git', [...where, ...who, ...args], { cwd: directory });
  };
  await rm(join(directory, '.git'), { recursive: true });
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'first');
  expect((await plan()).notes).toEqual([]);
  await writeFile(join(directory, 'package.json'), '{ }');
  await writeFile(join(directory, 'other.ts'), '// more\n');
  expect((await plan()).notes).toEqual(['package.json has changes that are not committed.']);
});
