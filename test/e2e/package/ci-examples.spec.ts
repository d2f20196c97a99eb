import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runRecord } from 'poolwright/reporter';
import { buildkite, circleci, EXAMPLES, githubActions, gitlab, type Step } from '../../support/ci/pipelines.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';

/** The commands of examples/ci, in a shell, on browsers of the emulator: one or two shards of four, then the report. */

const TOTAL = 4;

/** A shell's program that does nothing, and one that copies what all shards have kept. */
const STUBS = { npm: 'exit 0', 'buildkite-agent': 'cp -r "$SHARDS/shards" .' };

/** A user's project with this CI's config, a test for each shard, and what `npx` finds. */
async function checkedOut(consumer: Consumer): Promise<Consumer> {
  await cp(join(EXAMPLES, 'playwright.config.ts'), join(consumer.folder, 'playwright.config.ts'));
  const bin = join(consumer.folder, 'node_modules/.bin');
  await mkdir(bin);
  await symlink(consumer.playwrightCli, join(bin, 'playwright'));
  const cli = join(consumer.folder, 'node_modules/poolwright/dist/cli.js');
  await writeFile(
    join(bin, 'poolwright'),
    `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(cli)} "$@"\n`,
  );
  await chmod(join(bin, 'poolwright'), 0o755);
  for (const [name, script] of Object.entries(STUBS)) {
    await writeFile(join(consumer.folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const tests: Record<string, string> = {};
  for (let index = 1; index <= TOTAL; index++) {
    tests[`tests/${index}.spec.ts`] = `import { expect, test } from '@playwright/test';
      test('test ${index}', async ({ page }) => {
        await page.goto('data:text/html,<h1>hello</h1>');
        await expect(page.locator('h1')).toHaveText('hello');
      });`;
  }
  await consumer.write(tests);
  return consumer;
}

/** Runs steps as a CI does: after a failure, only those that always run. */
async function runSteps(steps: Step[], { folder }: Consumer, env: Record<string, string>): Promise<string> {
  let printed = '';
  let hasFailed = false;
  for (const step of steps) {
    if (hasFailed && !step.always) continue;
    const kept = Object.entries(process.env).filter(
      ([name]) => !/^(POOLWRIGHT_|TEST_|PW_|PLAYWRIGHT_|GITHUB_|npm_|NODE_OPTIONS$|FORCE_COLOR$)/.test(name),
    );
    const child = spawn('bash', ['-c', step.script], {
      cwd: folder,
      env: {
        ...Object.fromEntries(kept),
        CI: 'true',
        NO_COLOR: '1',
        ...env,
        ...step.env,
        PATH: `${folder}:${process.env.PATH}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    printed += `${out}${errors}[${code}]\n`;
    hasFailed ||= code !== 0;
  }
  expect(hasFailed, printed).toBe(false);
  return printed;
}

for (const pipeline of [githubActions(), gitlab(), circleci(), buildkite()]) {
  test(`${pipeline.name}: shards, a sweep, one report`, async ({ newConsumer, service }) => {
    const reporting = await checkedOut(await newConsumer());
    // Where artifacts meet in one folder, two shards show that neither replaces the other's.
    const shards = pipeline.name.startsWith('Git') ? [0, 1] : [1];
    for (const index of shards) {
      const shard = await checkedOut(await newConsumer());
      const env = { ...service.env, ...pipeline.shardVariables(index, TOTAL) };
      const printed = await runSteps(pipeline.shard, shard, env);
      expect(printed).toMatch(/\b1 passed/);
      expect(printed).toContain('nothing left behind by dead runs');
      for (const [from, to] of Object.entries(pipeline.kept(index))) {
        await mkdir(dirname(join(reporting.folder, 'kept', to)), { recursive: true });
        await cp(join(shard.folder, from), join(reporting.folder, 'kept', to), { recursive: true });
      }
    }
    expect(await service.running()).toEqual([]);
    const kept = join(reporting.folder, 'kept');
    // Buildkite's own program fetches them; the others have them there when the job begins.
    if (pipeline.name !== 'Buildkite') await cp(kept, reporting.folder, { recursive: true });
    const printed = await runSteps(pipeline.report, reporting, { SHARDS: kept });
    expect(printed).toMatch(shards.length === 2 ? /2 tests on 2 hosted browsers/ : /1 test on 1 hosted browser/);
    const report = join(reporting.folder, pipeline.reportFolder);
    expect(await readdir(report)).toEqual(expect.arrayContaining(['index.html', 'poolwright']));
    expect(await readdir(join(report, 'poolwright'))).toEqual(expect.arrayContaining(['run.json', 'timeline.html']));
    const { sessions } = runRecord.parse(
      JSON.parse(await reporting.read(`${pipeline.reportFolder}/poolwright/run.json`)),
    );
    const titles = sessions.flatMap(({ tests }) => tests.map(({ title }) => title));
    expect(titles.sort()).toEqual(shards.map((index) => `test ${index + 1}`));
  });
}
