import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMMANDS_NOT_RUN, CONFIGS_NOT_RUN, TESTS_NOT_RUN } from '../support/docs/cannot-run.ts';
import { type CodeBlock, codeIn } from '../support/docs/pages.ts';
import type { Consumer } from '../support/e2e/consumer.ts';
import { runProgram, runTestScript } from '../support/e2e/examples.ts';
import { expect, test } from '../support/e2e/fixtures.ts';
import { installPrograms } from '../support/e2e/programs.ts';
import { recordOf } from '../support/e2e/runner-records.ts';
import { localChromium } from '../support/local-chromium.ts';
import { slowIf } from '../support/property-runs.ts';
import { poolwright } from '../support/unit/cli/command-line.ts';

/**
 * The commands, configs and tests of the README and docs/, as a reader runs them: in an empty project, after `init`,
 * without a key. `docs-scripts.spec.ts` runs the scripts, which need a service. What runs for minutes is `@slow`.
 */

const isOfReader = ({ page }: CodeBlock) => page === 'README.md' || page.startsWith('docs/');
const configs = codeIn('ts').filter((block) => isOfReader(block) && /withHostedBrowsers\(/.test(block.code));
const isTest = ({ code }: CodeBlock) => /^(test|it|setup|describe|beforeAll)\(|function globalSetup/m.test(code);
const tests = codeIn('ts', 'js').filter((block) => isOfReader(block) && isTest(block));
/** Each line once. */
const lines = new Map(
  codeIn('sh')
    .filter(isOfReader)
    .flatMap(({ page, code }) => code.split('\n').map((line): [string, string] => [line.trim(), page])),
);
const runnable = [...lines].filter(([line]) => !COMMANDS_NOT_RUN.some(([pattern]) => pattern.test(line)));
/** Each once, whatever its comment. */
const commands = [...new Map(runnable.map(([line, page]) => [line.replace(/ +#.*/, ''), page]))];
const FIRST_PAGES = ['README.md', 'docs/getting-started.md'];
/** The config that `init` writes: the commands run with it. */
const isOfInit = ({ code }: CodeBlock) => code.includes('export default withHostedBrowsers(config);');

/** An empty project with one suite, after `npm i` and `init`. */
async function projectAfterInit(consumer: Consumer): Promise<void> {
  await installPrograms(consumer);
  const launch = { executablePath: await localChromium(), args: ['--no-sandbox'] };
  await consumer.write({
    '.git/HEAD': 'ref: refs/heads/main\n',
    'package.json': JSON.stringify({ name: 'shop', devDependencies: { poolwright: '*', '@playwright/test': '*' } }),
    'playwright.config.ts': `import { defineConfig } from '@playwright/test';
      export default defineConfig({ testDir: './tests', use: { launchOptions: ${JSON.stringify(launch)} } });`,
    'tests/a.spec.ts': `import { expect, test } from '@playwright/test';
      test('a page', async ({ page }) => {
        await page.goto('data:text/html,<title>hello</title>');
        await expect(page).toHaveTitle('hello');
      });`,
    'scrape.mjs': `import { chromium } from '@playwright/test';
      const browser = await chromium.launch({ executablePath: process.env.CHROME_PATH });
      const page = await browser.newPage();
      await page.goto('data:text/html,<title>hello</title>');
      if ((await page.title()) !== 'hello') process.exitCode = 1;
      await browser.close();`,
  });
  const { code, stderr } = await poolwright(['init', '--yes'], {}, consumer.directory);
  expect(code, stderr).toBe(0);
}

test('every block that does not run has a reason, and every reason has a block', () => {
  const unused = COMMANDS_NOT_RUN.filter(([pattern]) => ![...lines.keys()].some((line) => pattern.test(line)));
  expect(unused).toEqual([]);
  for (const [texts, blocks] of [
    [CONFIGS_NOT_RUN, configs],
    [TESTS_NOT_RUN, tests],
  ] as const) {
    for (const text of Object.keys(texts))
      expect(
        blocks.filter(({ code }) => code.includes(text)),
        text,
      ).toHaveLength(1);
  }
  const without = tests.filter(({ code }) => !Object.keys(TESTS_NOT_RUN).some((text) => code.includes(text)));
  expect(without.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  expect(commands.length).toBeGreaterThan(5);
});

for (const block of configs) {
  const { page, line, code } = block;
  if (Object.keys(CONFIGS_NOT_RUN).some((text) => code.includes(text))) continue;
  test(
    `${page}:${line} › the config runs on the emulator`,
    slowIf(page !== 'README.md' || isOfInit(block)),
    async ({ newConsumer }) => {
      const consumer = await newConsumer();
      await projectAfterInit(consumer);
      const file = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? '';
      const written = `${code}\n`;
      await consumer.write({ [file]: written });
      // A config that is wrapped itself is used as it is.
      if (file === 'playwright.config.ts')
        await consumer.write({
          'playwright.hosted.config.ts': `export { default } from './${file.replace('.ts', '.js')}';`,
        });
      // Only Chromium is installed here.
      const names = [...code.matchAll(/name: '(\w+)'(?!, persist)/g)].map(([, name = '']) => name);
      const args = names.filter((name) => name !== 'firefox').map((name) => `--project=${name}`);
      const run = await runTestScript(consumer, {}, args, 'test:hosted');
      expect(run.code, run.output).toBe(0);
      const { service, sessions } = await recordOf(consumer);
      expect(service).toBe('emulator');
      expect(sessions.flatMap(({ tests }) => tests.map(({ status }) => status))).toContain('passed');
      if (code.includes("pool: '")) expect(sessions.map(({ source }) => source)).toContain('pool');
    },
  );
}

test('commands › run in a project after `init`', { tag: '@slow' }, async ({ newConsumer }) => {
  test.setTimeout(600_000);
  const consumer = await newConsumer();
  await projectAfterInit(consumer);
  const written = await consumer.read('playwright.hosted.config.ts');
  const shown = configs.filter((block) => FIRST_PAGES.includes(block.page) && isOfInit(block));
  expect(shown).toHaveLength(1);
  for (const { code } of shown) expect(written).toContain(code.replace(/^\/\/ .*\n/, ''));
  // First the runs, a whole one last: the others read its record.
  const runs = commands.filter(([line]) => line.includes('npm run test:hosted'));
  runs.sort(([a], [b]) => Number(b.includes('--shard')) - Number(a.includes('--shard')));
  for (const [line, page] of [...runs, ...commands.filter((each) => !runs.includes(each))]) {
    const PATH = `${join(consumer.directory, 'node_modules/.bin')}:${process.env.PATH}`;
    const asks = /poolwright init\b(?!.*--yes)/.test(line) ? `${line} --yes` : line;
    const { code, output } = await runProgram(consumer, 'sh', ['-c', asks], { npm_config_offline: 'true', PATH });
    expect(code, `${page}: ${line}\n${output}`).toBe(0);
    if (!runs.some(([run]) => run === line)) continue;
    const places = ['runs', 'shard-1', 'shards/1'].map(
      (each) => `mkdir -p ${each} && cp test-results/poolwright/*.json ${each}`,
    );
    await promisify(execFile)('sh', ['-c', `${places.join(' && ')} && mkdir -p playwright-report`], {
      cwd: consumer.directory,
    });
  }
});
