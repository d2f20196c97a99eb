import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runRecord, timingsFile } from 'poolwright/reporter';
import type { CiProvider } from '../../../src/cli/init/plan-ci.ts';
import { PIPELINES, type Step } from '../../support/ci/pipelines.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { installPrograms } from '../../support/e2e/programs.ts';
import { COMPILE_CACHE } from '../../support/e2e/run-command.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';

/**
 * The commands of the pipelines that `init --ci` writes, in a shell: shards on browsers of the emulator, then the
 * report.
 */

test.use({ browsers: 'stub' });

const TOTAL = 2;

/** The pipeline that `npm test` runs; test/package/init/ci.spec.ts compares the text of all. */
const BRIEF: CiProvider = 'github';

/** Programs that do nothing, one that copies the files that all shards have kept, and `npx` without npm's start. */
const STUBS = {
  npm: 'exit 0',
  npx: 'program="$1"; shift; exec "node_modules/.bin/$program" "$@"',
  'buildkite-agent': 'cp -r "$SHARDS/shards" .',
};

/** Creates a user's project after `init`, with a test for each shard; returns the commands of its pipeline. */
async function checkedOut(consumer: Consumer, provider: CiProvider, files: Record<string, string>) {
  await installPrograms(consumer);
  for (const [name, script] of Object.entries(STUBS)) {
    await writeFile(join(consumer.directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  // The repository ends here.
  await consumer.write({ '.git/HEAD': '', ...files });
  const init = await poolwright(['init', '--yes', '--ci', provider], {}, consumer.directory);
  expect(init.code, init.stdout + init.stderr).toBe(0);
  const { file, commands } = PIPELINES[provider];
  return { consumer, ...commands(await consumer.read(file)) };
}

const SUITE: Record<string, string> = {
  'playwright.config.js': "export default { testDir: './tests', fullyParallel: true };",
};
for (let index = 1; index <= TOTAL; index++) {
  SUITE[`tests/${index}.spec.js`] = `import { expect, test } from '@playwright/test';
    test('test ${index}', async ({ page }) => {
      await page.goto('data:text/html,<title>hello</title>');
      expect(await page.title()).toBe('hello');
    });`;
}

/** Runs steps like a CI: after a failure, only those that always run. */
async function runSteps(steps: Step[], { directory }: Consumer, env: Record<string, string>) {
  let printed = '';
  let hasFailed = false;
  for (const step of steps) {
    if (hasFailed && !step.always) continue;
    const kept = Object.entries(process.env).filter(
      ([name]) => !/^(POOLWRIGHT_|TEST_|PW_|PLAYWRIGHT_|GITHUB_|npm_|NODE_OPTIONS$|FORCE_COLOR$)/.test(name),
    );
    const child = spawn('bash', ['-c', step.script], {
      cwd: directory,
      env: {
        ...Object.fromEntries(kept),
        CI: 'true',
        NO_COLOR: '1',
        NODE_OPTIONS: COMPILE_CACHE,
        ...step.env,
        ...env,
        PATH: `${directory}:${process.env.PATH}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    printed += `${out}${errors}[${code}]\n`;
    hasFailed ||= code !== 0;
  }
  return { hasFailed, printed };
}

for (const [provider, { kept, saved, shardVariables }] of Object.entries(PIPELINES) as [
  CiProvider,
  (typeof PIPELINES)[CiProvider],
][]) {
  test(`${provider} › runs shards, sweeps, and makes one report${provider === BRIEF ? '' : ' @slow'}`, async ({
    newConsumer,
    service,
  }) => {
    const { consumer: reporting, report } = await checkedOut(await newConsumer(), provider, SUITE);
    for (let index = 0; index < TOTAL; index++) {
      const { consumer, shard } = await checkedOut(await newConsumer(), provider, SUITE);
      const env = { POOLWRIGHT_SERVICE: 'hosted', ...service.env, ...shardVariables(index, TOTAL) };
      const { hasFailed, printed } = await runSteps(shard, consumer, env);
      expect(hasFailed, printed).toBe(false);
      expect(printed).toMatch(/\b1 passed/);
      expect(printed).toContain('nothing left behind by dead runs');
      for (const [from, to] of Object.entries(kept(index))) {
        await mkdir(dirname(join(reporting.directory, 'kept', to)), { recursive: true });
        await cp(join(consumer.directory, from), join(reporting.directory, 'kept', to), { recursive: true });
      }
    }
    expect(await service.running()).toEqual([]);
    const all = join(reporting.directory, 'kept');
    // Buildkite's own program fetches the files; in other CIs they exist when the job begins.
    if (provider !== 'buildkite') await cp(all, reporting.directory, { recursive: true });
    const { hasFailed, printed } = await runSteps(report, reporting, { SHARDS: all });
    expect(hasFailed, printed).toBe(false);
    expect(printed).toContain('2 tests on 2 hosted browsers');
    const made = join(reporting.directory, 'playwright-report');
    expect(await readdir(made)).toEqual(expect.arrayContaining(['index.html', 'poolwright']));
    expect(await readdir(join(made, 'poolwright'))).toEqual(expect.arrayContaining(['run.json', 'timeline.html']));
    const { sessions } = runRecord.parse(JSON.parse(await reporting.read('playwright-report/poolwright/run.json')));
    const titles = sessions.flatMap(({ tests }) => tests.map(({ title }) => title));
    expect(titles.sort()).toEqual(['test 1', 'test 2']);
    const timings = saved ?? 'playwright-report/poolwright/timings.json';
    const { projects } = timingsFile.parse(JSON.parse(await reporting.read(timings)));
    expect(Object.values(projects).map((files) => Object.keys(files).sort())).toEqual([
      ['tests/1.spec.js', 'tests/2.spec.js'],
    ]);
  });
}

test('github › uses the emulator for a fork without a key, and fails any other run', { tag: '@slow' }, async ({
  newConsumer,
}) => {
  const { consumer, shard } = await checkedOut(await newConsumer(), 'github', SUITE);
  const variables = PIPELINES.github.shardVariables(0, TOTAL);
  const tests = shard.filter(({ always }) => !always);
  const fork = await runSteps(tests, consumer, { ...variables, POOLWRIGHT_SERVICE: 'emulator' });
  expect(fork.printed).toMatch(/\b1 passed/);
  expect(fork.hasFailed, fork.printed).toBe(false);
  const main = await runSteps(tests, consumer, { ...variables, POOLWRIGHT_SERVICE: 'hosted', POOLWRIGHT_API_KEY: '' });
  expect(main.hasFailed).toBe(true);
  expect(main.printed).toContain('POOLWRIGHT_API_KEY is not set');
  expect(main.printed).not.toMatch(/\bpassed/);
});

test('gitlab › keeps the record of a node:test suite', { tag: '@slow' }, async ({ newConsumer, service }) => {
  const { consumer, shard } = await checkedOut(await newConsumer(), 'gitlab', {
    'package.json': JSON.stringify({
      scripts: { test: 'node --test' },
      devDependencies: { 'puppeteer-core': '*' },
    }),
    'a.test.mjs': `import { test } from 'node:test';
      import { hostedBrowser } from 'poolwright/node-test';
      const hosted = hostedBrowser();
      test('a page', async () => { await hosted.page.goto('data:text/html,<h1>hello</h1>'); });`,
  });
  const { hasFailed, printed } = await runSteps(shard, consumer, service.env);
  expect(hasFailed, printed).toBe(false);
  const { runner, sessions } = runRecord.parse(JSON.parse(await consumer.read('test-results/poolwright/run.json')));
  expect(runner).toBe('node-test');
  expect(sessions.map(({ tests }) => tests.map(({ status }) => status))).toEqual([['passed']]);
  expect(await service.running()).toEqual([]);
});
