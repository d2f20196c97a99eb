import * as v from 'valibot';
import { parse } from 'yaml';
import type { CiProvider } from '../../../src/cli/init/plan-ci.ts';

/** The parts of the pipelines of `init --ci` that a test runs. */

/** One call of a shell. */
export interface Step {
  script: string;
  /** Variables that the file sets for it; the CI's variables are in {@link Pipeline.shardVariables}. */
  env: Record<string, string>;
  /** Whether it also runs after a failure. */
  always: boolean;
}

/** The commands of one CI's file. */
interface Commands {
  /** The steps of one shard; without shards, of the whole run. */
  shard: Step[];
  /** The steps after all shards. */
  report: Step[];
}

/** One CI. */
export interface Pipeline {
  /** The path that `init` writes. */
  file: string;
  /** Its copy in examples/ci. */
  example: string;
  /** Extracts the commands from its text: those for branches, not for forks. */
  commands(text: string): Commands;
  /** Returns the variables that this CI sets for a shard; the first shard is 0. */
  shardVariables(index: number, total: number): Record<string, string>;
  /** Returns the path of each shard file in the report job, by its path in the shard's directory. */
  kept(index: number): Record<string, string>;
  /** The file that the report job saves for the shards of later runs; null: the user commits it. */
  saved: string | null;
}

/** As strict as the YAML of these CIs: no duplicates, no warnings. */
export function yaml(text: string): unknown {
  return parse(text, { strict: true, uniqueKeys: true, merge: true, logLevel: 'error' });
}

const text = v.record(v.string(), v.unknown());

/** Adds the shell options of these CIs, and replaces their own variables. */
const shell = (script: string, options = 'set -e'): string => `${options}\n${script}`;

const githubStep = v.looseObject({
  run: v.optional(v.string()),
  if: v.optional(v.string(), ''),
  env: v.optional(text, {}),
});
const githubJob = v.looseObject({ steps: v.array(githubStep) });

function githubCommands(file: string): Commands {
  const jobs = v.object({ test: githubJob, report: v.optional(githubJob, { steps: [] }) });
  const { test, report } = v.parse(v.looseObject({ jobs }), yaml(file)).jobs;
  const steps = ({ steps: all }: v.InferOutput<typeof githubJob>): Step[] =>
    all.flatMap(({ run, if: condition, env }) => {
      if (run === undefined || condition.startsWith("env.POOLWRIGHT_SERVICE == 'emulator'")) return [];
      return [{ script: shell(run), env: onlyOwn(env), always: condition.includes('always()') }];
    });
  return { shard: steps(test), report: steps(report) };
}

function gitlabCommands(file: string): Commands {
  const lines = v.array(v.string());
  const job = v.looseObject({ script: lines, after_script: v.optional(lines, []), variables: v.optional(text, {}) });
  const jobs = v.looseObject({ 'hosted-browsers': job, 'hosted-browsers-report': v.optional(job) });
  const { 'hosted-browsers': tests, 'hosted-browsers-report': report } = v.parse(jobs, yaml(file));
  const step = (script: string[], always = false): Step => ({
    script: shell(script.join('\n'), 'set -eo pipefail'),
    env: onlyOwn(tests.variables),
    always,
  });
  return { shard: [step(tests.script), step(tests.after_script, true)], report: report ? [step(report.script)] : [] };
}

function circleciCommands(file: string): Commands {
  const run = v.looseObject({ command: v.string(), when: v.optional(v.string()) });
  const step = v.union([v.string(), v.looseObject({ run: v.optional(v.union([v.string(), run])) })]);
  const job = v.looseObject({ steps: v.array(step), environment: v.optional(text, {}) });
  const jobs = v.object({ 'hosted-browsers': job, 'hosted-browsers-report': v.optional(job, { steps: [] }) });
  const { 'hosted-browsers': tests, 'hosted-browsers-report': report } = v.parse(
    v.looseObject({ jobs }),
    yaml(file),
  ).jobs;
  const steps = ({ steps: all, environment }: v.InferOutput<typeof job>): Step[] =>
    all.flatMap((each) => {
      if (typeof each === 'string' || each.run === undefined) return [];
      const { command, when } = typeof each.run === 'string' ? { command: each.run, when: undefined } : each.run;
      return [{ script: shell(command, 'set -eo pipefail'), env: onlyOwn(environment), always: when === 'always' }];
    });
  return { shard: steps(tests), report: steps(report) };
}

function buildkiteCommands(file: string): Commands {
  const step = v.looseObject({
    command: v.optional(v.string()),
    if: v.optional(v.string()),
    env: v.optional(text, {}),
  });
  const { steps } = v.parse(v.looseObject({ steps: v.array(step) }), yaml(file));
  const commands = (wanted: (condition?: string) => boolean): Step[] =>
    steps.flatMap(({ command, if: condition, env }) => {
      if (command === undefined || !wanted(condition)) return [];
      // The agent does this when it uploads the file.
      return [{ script: shell(command.replaceAll('$$', '$')), env: onlyOwn(env), always: false }];
    });
  return {
    shard: commands((condition) => condition?.endsWith('!= true') === true),
    report: commands((condition) => condition === undefined),
  };
}

export const PIPELINES: Record<CiProvider, Pipeline> = {
  github: {
    file: '.github/workflows/poolwright.yml',
    example: 'github-actions/e2e.yml',
    commands: githubCommands,
    shardVariables: (index) => ({ GITHUB_RUN_ID: '1', SHARD: String(index + 1) }),
    // `upload-artifact` keeps the directories, and `download-artifact` creates one per artifact.
    kept: (index) => ({
      'blob-report': `shards/shard-${index + 1}/blob-report`,
      'test-results/poolwright': `shards/shard-${index + 1}/test-results/poolwright`,
    }),
    saved: 'poolwright-timings.json',
  },
  gitlab: {
    file: '.gitlab-ci.yml',
    example: 'gitlab/.gitlab-ci.yml',
    commands: gitlabCommands,
    shardVariables: (index, total) => ({
      CI_PIPELINE_ID: '1',
      CI_JOB_ID: String(index + 1),
      CI_NODE_INDEX: String(index + 1),
      CI_NODE_TOTAL: String(total),
    }),
    kept: () => ({ shards: 'shards' }),
    saved: 'poolwright-timings.json',
  },
  circleci: {
    file: '.circleci/config.yml',
    example: 'circleci/config.yml',
    commands: circleciCommands,
    shardVariables: (index, total) => ({
      CIRCLE_WORKFLOW_ID: '1',
      CIRCLE_NODE_INDEX: String(index),
      CIRCLE_NODE_TOTAL: String(total),
    }),
    kept: () => ({ shards: 'shards' }),
    saved: 'poolwright-timings/poolwright-timings.json',
  },
  buildkite: {
    file: '.buildkite/pipeline.yml',
    example: 'buildkite/pipeline.yml',
    commands: buildkiteCommands,
    shardVariables: (index, total) => ({
      BUILDKITE_BUILD_ID: '1',
      BUILDKITE_PARALLEL_JOB: String(index),
      BUILDKITE_PARALLEL_JOB_COUNT: String(total),
    }),
    kept: () => ({ shards: 'shards' }),
    saved: null,
  },
};

/** Returns the variables without those that the CI fills in. */
function onlyOwn(env: Record<string, unknown>): Record<string, string> {
  const own = Object.entries(env).filter(([, value]) => !String(value).includes('${{'));
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}
