import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { runProgram } from '../../support/e2e/examples.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { installPrograms } from '../../support/e2e/programs.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import type { Suite } from '../../support/e2e/suite-run.ts';

/** The commands that llms.txt and docs/programs.md tell a program to run, on stub browsers. */

test.use({ browsers: 'stub' });

const ROOT = join(import.meta.dirname, '../../..');
const INSTALL = 'npm i -D poolwright';

/** The lines of all `sh` blocks. */
function commandsIn(file: string): string[] {
  const blocks = readFileSync(join(ROOT, file), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, code = '']) => code.trim().split('\n'));
}

async function newProject(consumer: Consumer): Promise<Consumer> {
  await installPrograms(consumer);
  await consumer.write({
    'package.json': '{ "name": "project" }',
    'playwright.config.ts': `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: './tests' });`,
    'tests/a.spec.ts': `import { test } from '@playwright/test';
test('opens', async ({ page }) => { await page.goto('about:blank'); });`,
  });
  return consumer;
}

/** As typed into a shell. npm finds everything in this directory. */
async function type(consumer: Consumer, command: string, env: Record<string, string>) {
  const offline = { npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  return await runProgram(consumer, 'sh', ['-c', command], { ...offline, ...env });
}

test('docs/programs.md › its commands, and with them those of llms.txt, work one after the other', {
  tag: '@slow',
}, async ({ newConsumer, service }) => {
  const consumer = await newProject(await newConsumer());
  const [install = '', ...commands] = commandsIn('docs/programs.md');
  expect(install).toBe(INSTALL);
  const brief = commandsIn('llms.txt');
  expect([install, ...commands].filter((command) => brief.includes(command))).toEqual(brief);
  expect(brief.length).toBeGreaterThan(4);
  for (const command of commands) {
    const { code, output } = await type(consumer, command, service.env);
    expect(code, `${command}\n${output}`).toBe(0);
    if (/--json$/.test(command)) expect(() => JSON.parse(output), output).not.toThrow();
  }
  expect(await recordOf(consumer)).toMatchObject({ failures: [], sessions: [{ testsServed: 1 }] });
  expect(await service.running()).toEqual([]);
});

test('a failure › has code, message and next step: of a command, of bad usage, and of a run', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newProject(await newConsumer());
  const wrongKey = { ...service.env, POOLWRIGHT_API_KEY: 'wrong' };
  const failure = {
    code: 'SERVICE_UNAUTHORIZED',
    message: expect.any(String),
    next: expect.stringContaining('doctor'),
  };
  const command = await type(consumer, 'npx poolwright account --json', wrongKey);
  expect([command.code, JSON.parse(command.output)]).toEqual([1, { error: failure }]);
  const usage = await type(consumer, 'npx poolwright sessions list --statu active --json 2>/dev/null', service.env);
  expect([usage.code, JSON.parse(usage.output)]).toMatchObject([
    2,
    { error: { code: 'OPTIONS_INVALID', message: expect.stringContaining('--statu'), next: expect.any(String) } },
  ]);
  await type(consumer, 'npx poolwright init --yes --json', service.env);
  const run = await type(consumer, 'npx playwright test -c playwright.hosted.config.ts', wrongKey);
  expect(run.code, run.output).toBe(1);
  expect((await recordOf(consumer)).failures).toEqual([failure]);
});

const OPENS = `test('opens', async ({ page }) => { await page.goto('about:blank'); });`;

/** Runs that fail for a reason of ours: the reason must be in run.json. More are in e2e/runs/bad-input. */
const FAILED_RUNS: Record<string, { suite: Partial<Suite>; failure: { code: string; message: string } }> = {
  'a wrong option in the config': {
    suite: { options: `{ pol: 'x' }`, config: `outputDir: './results',`, args: ['--config=playwright.config.ts'] },
    failure: { code: 'OPTIONS_INVALID', message: 'did you mean `pool`?' },
  },
  'more than the budget': {
    suite: { options: '{ budget: { sessions: 0 } }' },
    failure: { code: 'BUDGET_EXCEEDED', message: 'sessions is limited to 0' },
  },
};

for (const [name, { suite, failure }] of Object.entries(FAILED_RUNS)) {
  test(`a failed run › has its reason in run.json: ${name}`, async ({ runSuite }) => {
    const { consumer } = await runSuite({ tests: OPENS, ...suite, code: 1 });
    const directory = suite.config === undefined ? 'test-results' : 'results';
    const { failures } = await recordOf(consumer, `${directory}/poolwright/run.json`);
    expect(failures).toEqual([
      { code: failure.code, message: expect.stringContaining(failure.message), next: expect.any(String) },
    ]);
  });
}

test('a failed run › has its reason in run.json: a wrong option of another runner', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'poolwright.config.mjs': `export default { pol: 'x' };`,
    'a.test.mjs': `import { test } from 'node:test'; test('passes', () => {});`,
  });
  const run = await runCommand(consumer, ['--require', 'poolwright/node-test', '--test'], service.env);
  expect(run.code, run.output).not.toBe(0);
  expect((await recordOf(consumer)).failures).toMatchObject([{ code: 'OPTIONS_INVALID' }]);
});
