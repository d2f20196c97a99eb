import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { runProgram, runTestScript } from '../../support/e2e/examples.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { installPrograms } from '../../support/e2e/programs.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { localChromium } from '../../support/local-chromium.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';

/** The steps of a new user, from an empty directory to a green run, with the commands that `init` prints and writes. */

interface Walk {
  /** Packages that the user has installed beside poolwright. */
  packages: string[];
  /** Packages that must be beside poolwright, because it imports them by name, with their program. */
  beside?: Record<string, string>;
  scripts?: Record<string, string>;
  files: Record<string, string>;
  /** The files that `init` adds. */
  added: string[];
  /** The runner's name in the record. */
  runner: string;
}

const GOES = "await page.goto('data:text/html,<title>hello</title>');";
const CHECKS = "if ((await page.title()) !== 'hello') throw new Error('another title');";

const WALKS: Record<string, Walk> = {
  Vitest: {
    packages: ['vitest', 'puppeteer-core'],
    files: {
      'a.test.mjs': `import { test } from 'poolwright/vitest';
        test('a page', { timeout: 60_000 }, async ({ page }) => { ${GOES} ${CHECKS} });`,
    },
    added: ['vitest.hosted.config.mjs'],
    runner: 'vitest',
  },
  Jest: {
    packages: ['jest', 'puppeteer-core'],
    files: { 'a.test.js': `test('a page', async () => { ${GOES} ${CHECKS} }, 60_000);` },
    added: [],
    runner: 'jest',
  },
  Mocha: {
    packages: ['mocha', 'puppeteer-core'],
    beside: { mocha: 'node_modules/mocha/bin/mocha.js' },
    files: {
      'test/a.js': `it('a page', async function () { this.timeout(60_000); const { page } = this; ${GOES} ${CHECKS} });`,
    },
    added: [],
    runner: 'mocha',
  },
  'node:test': {
    packages: ['puppeteer-core'],
    scripts: { test: 'node --test' },
    files: {
      'a.test.mjs': `import { test } from 'node:test';
        import { hostedBrowser } from 'poolwright/node-test';
        const hosted = hostedBrowser();
        test('a page', async () => { const { page } = hosted; ${GOES} ${CHECKS} });`,
    },
    added: [],
    runner: 'node-test',
  },
};

const PLAYWRIGHT = {
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';
    export default defineConfig({
      testDir: './tests',
      reporter: 'line',
      use: { launchOptions: { executablePath: process.env.LOCAL_CHROMIUM, args: ['--no-sandbox'] } },
    });`,
  'tests/a.spec.ts': `import { test } from '@playwright/test';
    test('a page', async ({ page }) => { ${GOES} ${CHECKS} });`,
};

/** Creates a directory in a separate repository, with nothing but the result of `npm i`. */
async function empty(consumer: Consumer, programs: Record<string, string> = {}): Promise<Consumer> {
  await installPrograms(consumer, programs);
  await rm(join(consumer.directory, 'package.json'));
  await consumer.write({ '.git/HEAD': 'ref: refs/heads/main\n' });
  return consumer;
}

/** Returns the user's files, and the added files that a commit would contain. */
async function filesOf({ directory }: Consumer): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  return files
    .map((file) => file.slice(directory.length + 1))
    .filter((file) => !/^(node_modules|test-results|\.git)\//.test(file))
    .sort();
}

async function packageOf(consumer: Consumer, { packages, scripts = {} }: Pick<Walk, 'packages' | 'scripts'>) {
  const devDependencies = Object.fromEntries(['poolwright', ...packages].map((name) => [name, '*']));
  const manifest = { name: 'project', version: '1.0.0', main: 'index.js', license: 'ISC', scripts, devDependencies };
  await consumer.write({ 'package.json': JSON.stringify(manifest, null, 2) });
}

/** Runs a program; npm must find everything in this directory. */
async function run(consumer: Consumer, program: string, args: readonly string[], env: Record<string, string> = {}) {
  return await runProgram(consumer, program, args, {
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ...env,
  });
}

/** Runs a command that `init` printed. */
async function follow(consumer: Consumer, command: string, env: Record<string, string> = {}) {
  const [program = '', ...args] = command.split(' ');
  const { code, output } = await run(consumer, program, args, env);
  expect(code, `${command}\n${output}`).toBe(0);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  return output;
}

/** Runs `poolwright init --yes` in this process. */
async function init({ directory }: Consumer): Promise<string> {
  const { code, stdout, stderr } = await poolwright(['init', '--yes'], {}, directory);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

/** Returns the last step that `init` printed: it runs the tests. */
function lastStep(output: string): string {
  return /\n {2}\d+\. (?!.*\n {2}\d+\. )(.*)/.exec(output)?.[1] ?? 'no step';
}

for (const [title, walk] of Object.entries(WALKS)) {
  // runners.spec.ts runs a suite of each; test/unit/cli/init/puppeteer.spec.ts has what `init` adds for each.
  const tag = walk.runner === 'vitest' ? [] : ['@slow'];
  test(`${title} › runs the script that init adds in an empty directory`, { tag }, async ({ newConsumer }) => {
    const consumer = await empty(await newConsumer('latest', 'commonjs', Object.keys(walk.beside ?? {})), walk.beside);
    await packageOf(consumer, walk);
    await consumer.write(walk.files);
    const printed = await init(consumer);
    expect(lastStep(printed)).toBe('npm run test:hosted');
    // Without npm, which takes half a second; Playwright's steps include it.
    const { code, output } = await runTestScript(consumer, {}, [], 'test:hosted');
    expect(code, output).toBe(0);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    const { runner, service, sessions } = await recordOf(consumer);
    expect({ runner, service }).toEqual({ runner: walk.runner, service: 'emulator' });
    expect(sessions.map(({ tests }) => tests.map(({ status }) => status))).toEqual([['passed']]);
    const files = [...Object.keys(walk.files), ...walk.added, 'package.json', '.gitignore'];
    expect(await filesOf(consumer)).toEqual(files.sort());
    expect(await init(consumer)).toContain('Everything is set up: nothing to change.');
  });
}

test('Playwright Test › init keeps local browsers, and adds a script for hosted ones once', async ({ newConsumer }) => {
  const consumer = await empty(await newConsumer());
  const nothing = await poolwright(['init', '--yes'], {}, consumer.directory);
  expect({ code: nothing.code, files: await filesOf(consumer) }).toEqual({ code: 2, files: [] });
  expect(nothing.stdout + nothing.stderr).toContain('For a new suite: npm init playwright@latest');

  await packageOf(consumer, { packages: ['@playwright/test'], scripts: { test: 'playwright test' } });
  await consumer.write(PLAYWRIGHT);
  const printed = await follow(consumer, 'npx poolwright init --yes');
  expect(lastStep(printed)).toBe('npm run test:hosted');
  const files = await filesOf(consumer);
  expect(files).toEqual(
    [...Object.keys(PLAYWRIGHT), 'playwright.hosted.config.ts', 'package.json', '.gitignore'].sort(),
  );
  expect(await consumer.read('playwright.config.ts')).toBe(PLAYWRIGHT['playwright.config.ts']);

  const local = await runTestScript(consumer, { LOCAL_CHROMIUM: await localChromium() });
  expect(local.code, local.output).toBe(0);
  expect(local.output).toContain('1 passed');
  expect(local.output).not.toContain('poolwright:');
  expect(existsSync(join(consumer.directory, 'test-results/poolwright'))).toBe(false);

  const hosted = await follow(consumer, lastStep(printed));
  expect(hosted).toContain('1 passed');
  const { runner, service, sessions } = await recordOf(consumer);
  expect({ runner, service }).toEqual({ runner: 'playwright', service: 'emulator' });
  expect(sessions.map(({ tests }) => tests.map(({ status }) => status))).toEqual([['passed']]);

  expect(await init(consumer)).toContain('Everything is set up: nothing to change.');
  expect(await filesOf(consumer)).toEqual(files);
});

test('Playwright Test › runs the command that init prints without a package.json', async ({ newConsumer }) => {
  const consumer = await empty(await newConsumer());
  // Otherwise Playwright uses the directory of the next package.json above, which is this repository's.
  const config = PLAYWRIGHT['playwright.config.ts'].replace('testDir:', "outputDir: './test-results', testDir:");
  await consumer.write({ ...PLAYWRIGHT, 'playwright.config.ts': config });
  const step = lastStep(await init(consumer));
  expect(step).toBe('npx playwright test -c playwright.hosted.config.ts');
  expect(await follow(consumer, step)).toContain('1 passed');
  expect((await recordOf(consumer)).service).toBe('emulator');
});

test('Puppeteer › runs a script with the lines that init prints without a known runner', async ({ newConsumer }) => {
  const consumer = await empty(await newConsumer());
  await packageOf(consumer, { packages: ['puppeteer-core', 'ava'] });
  const before = await filesOf(consumer);
  const unknown = await poolwright(['init', '--yes', '--runner', 'ava'], {}, consumer.directory);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('vitest, jest, mocha, node-test') });
  const { code, stderr } = await poolwright(['init', '--yes'], {}, consumer.directory);
  expect(code, stderr).toBe(2);
  const [line = ''] = /import \{ leaseBrowser \} from 'poolwright\/puppeteer'/.exec(stderr) ?? [];
  expect(await filesOf(consumer)).toEqual(before);
  await consumer.write({
    'price.mjs': `${line};
      const { browser, session, release } = await leaseBrowser();
      const page = await browser.newPage();
      ${GOES} ${CHECKS}
      console.log('session', session.sessionId);
      await release();`,
  });
  expect(await follow(consumer, 'node price.mjs')).toMatch(/^session \S+/m);
});
