import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { parse } from 'yaml';

/** The CI files of examples/ci, as far as a test runs them. */

export const EXAMPLES = resolve(import.meta.dirname, '../../../examples/ci');

/** One call of a shell. */
export interface Step {
  script: string;
  /** Variables that the file sets for it; those of the CI are in {@link Pipeline.shardVariables}. */
  env: Record<string, string>;
  /** Runs after a failure, too. */
  always: boolean;
}

/** One CI's file. */
export interface Pipeline {
  name: string;
  file: string;
  /** What one shard runs. */
  shard: Step[];
  /** What is run once all shards are over. */
  report: Step[];
  /** What this CI sets for a shard, of which the first is 0. */
  shardVariables(index: number, total: number): Record<string, string>;
  /** Where the files of a shard lie when the report is made, by where they lay in the shard's folder. */
  kept(index: number): Record<string, string>;
  /** Where the report is kept. */
  reportFolder: string;
}

/** The text of a file of examples/ci. */
export function example(file: string): string {
  return readFileSync(join(EXAMPLES, file), 'utf8');
}

/** As strict as the YAML of these CIs: nothing twice, no warnings. */
export function yaml(text: string): unknown {
  return parse(text, { strict: true, uniqueKeys: true, merge: true, logLevel: 'error' });
}

const text = v.record(v.string(), v.unknown());

export function githubActions(): Pipeline {
  const file = 'github-actions/e2e.yml';
  const step = v.looseObject({
    run: v.optional(v.string()),
    if: v.optional(v.string(), ''),
    env: v.optional(text, {}),
  });
  const job = v.looseObject({ steps: v.array(step) });
  const { jobs } = v.parse(v.looseObject({ jobs: v.object({ test: job, report: job }) }), yaml(example(file)));
  const steps = ({ steps: all }: v.InferOutput<typeof job>): Step[] =>
    all.flatMap(({ run, if: condition, env }) => {
      if (run === undefined || condition.startsWith('env.RUN_ON_EMULATOR ==')) return [];
      return [{ script: `set -e\n${run}`, env: onlyOwn(env), always: condition.includes('always()') }];
    });
  return {
    name: 'GitHub Actions',
    file,
    shard: steps(jobs.test),
    report: steps(jobs.report),
    shardVariables: (index) => ({ GITHUB_RUN_ID: '1', SHARD: String(index + 1) }),
    // `upload-artifact` keeps the folders, and `download-artifact` makes one for each artifact.
    kept: (index) => ({
      'blob-report': `shards/shard-${index + 1}/blob-report`,
      'test-results/poolwright/run.json': `shards/shard-${index + 1}/test-results/poolwright/run.json`,
    }),
    reportFolder: 'playwright-report',
  };
}

export function gitlab(): Pipeline {
  const file = 'gitlab/.gitlab-ci.yml';
  const lines = v.array(v.string());
  const job = v.looseObject({ script: lines, after_script: v.optional(lines, []) });
  const { e2e, report } = v.parse(v.looseObject({ e2e: job, report: job }), yaml(example(file)));
  const step = (script: string[], always = false): Step => ({
    script: ['set -eo pipefail', ...script].join('\n'),
    env: {},
    always,
  });
  return {
    name: 'GitLab',
    file,
    shard: [step(e2e.script), step(e2e.after_script, true)],
    report: [step(report.script)],
    shardVariables: (index, total) => ({
      CI_PIPELINE_ID: '1',
      CI_JOB_ID: String(index + 1),
      CI_NODE_INDEX: String(index + 1),
      CI_NODE_TOTAL: String(total),
    }),
    kept: () => ({ shards: 'shards' }),
    reportFolder: 'playwright-report',
  };
}

export function circleci(): Pipeline {
  const file = 'circleci/config.yml';
  const run = v.looseObject({ command: v.string(), when: v.optional(v.string()) });
  const step = v.union([v.string(), v.looseObject({ run: v.optional(v.union([v.string(), run])) })]);
  const job = v.looseObject({ steps: v.array(step) });
  const { jobs } = v.parse(v.looseObject({ jobs: v.object({ e2e: job, report: job }) }), yaml(example(file)));
  const steps = ({ steps: all }: v.InferOutput<typeof job>): Step[] =>
    all.flatMap((each) => {
      if (typeof each === 'string' || each.run === undefined) return [];
      const { command, when } = typeof each.run === 'string' ? { command: each.run, when: undefined } : each.run;
      return [{ script: `set -eo pipefail\n${command}`, env: {}, always: when === 'always' }];
    });
  return {
    name: 'CircleCI',
    file,
    shard: steps(jobs.e2e),
    report: steps(jobs.report),
    shardVariables: (index, total) => ({
      CIRCLE_WORKFLOW_ID: '1',
      CIRCLE_NODE_INDEX: String(index),
      CIRCLE_NODE_TOTAL: String(total),
    }),
    kept: () => ({ shards: 'shards' }),
    reportFolder: 'playwright-report',
  };
}

export function buildkite(): Pipeline {
  const file = 'buildkite/pipeline.yml';
  const step = v.looseObject({
    command: v.optional(v.string()),
    parallelism: v.optional(v.number()),
    if: v.optional(v.string()),
  });
  const { steps } = v.parse(v.looseObject({ steps: v.array(step) }), yaml(example(file)));
  const asStep = (each: v.InferOutput<typeof step> | undefined): Step => ({
    // What the agent does when it uploads the file.
    script: `set -e\n${each?.command?.replaceAll('$$', '$')}`,
    env: {},
    always: false,
  });
  return {
    name: 'Buildkite',
    file,
    shard: [asStep(steps.find((each) => each.parallelism && each.if?.endsWith('!= true')))],
    report: [asStep(steps.at(-1))],
    shardVariables: (index, total) => ({
      BUILDKITE_BUILD_ID: '1',
      BUILDKITE_PARALLEL_JOB: String(index),
      BUILDKITE_PARALLEL_JOB_COUNT: String(total),
    }),
    kept: () => ({ shards: 'shards' }),
    reportFolder: 'playwright-report',
  };
}

/** Without what the CI fills in. */
function onlyOwn(env: Record<string, unknown>): Record<string, string> {
  const own = Object.entries(env).filter(([, value]) => !String(value).includes('${{'));
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}
