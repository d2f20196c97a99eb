import {
  cd,
  chromium,
  fromRoot,
  header,
  indented,
  install,
  keepShard,
  mergeShards,
  type PipelineFacts,
  RECORD,
  REPORT,
  runTests,
  SHARDS,
  sweep,
  textOf,
  videoWriter,
} from './facts.ts';

const FORK = 'build.pull_request.repository.fork';

/** Buildkite: secrets of the cluster, which are for steps that are no fork's. */
export function buildkite(facts: PipelineFacts): string {
  return textOf(
    header('buildkite', 'Set the secrets POOLWRIGHT_API_KEY and POOLWRIGHT_BASE_URL of the cluster.'),
    ['steps:'],
    indented(buildkiteSteps(facts), 2),
  );
}

/**
 * The steps alone, for a file that has others. `$$` keeps the upload of the pipeline from reading a variable itself.
 */
export function buildkiteSteps(facts: PipelineFacts): string[] {
  const { playwright } = facts;
  return [
    '- label: ":chromium: tests on hosted browsers"',
    `  if: ${FORK} != true`,
    '  key: hosted-browsers',
    ...indented(limits(facts), 2),
    '  secrets:',
    '    - POOLWRIGHT_API_KEY',
    '    - POOLWRIGHT_BASE_URL',
    '  env:',
    '    POOLWRIGHT_SERVICE: hosted',
    ...indented(testCommand(facts, []), 2),
    '',
    '# A pull request from a fork gets no secrets: it runs on the emulator, on Chromium of the agent.',
    '- label: ":chromium: tests on the emulator"',
    `  if: ${FORK} == true`,
    '  key: hosted-browsers-fork',
    ...indented(limits(facts), 2),
    '  env:',
    '    POOLWRIGHT_SERVICE: emulator',
    ...indented(testCommand(facts, ['unset POOLWRIGHT_POOL', chromium(facts)]), 2),
    ...(playwright ? reportSteps(facts, mergeShards(facts, playwright)) : []),
  ];
}

function limits({ playwright }: PipelineFacts): string[] {
  return [...(playwright ? [`parallelism: ${SHARDS}`] : []), 'timeout_in_minutes: 30'];
}

/** The sweep runs after a failure, too. */
function testCommand(facts: PipelineFacts, before: string[]): string[] {
  const shard = '$$((BUILDKITE_PARALLEL_JOB + 1))/$$BUILDKITE_PARALLEL_JOB_COUNT';
  return [
    'command: |',
    ...indented(
      [
        ...cd(facts),
        ...install(facts),
        ...videoWriter(facts),
        ...before,
        `${runTests(facts, shard)} || status=$$?`,
        sweep(facts),
        ...(facts.playwright ? keepShard('$$BUILDKITE_PARALLEL_JOB') : []),
        'exit "$${status:-0}"',
      ],
      2,
    ),
    `artifact_paths: ${fromRoot(facts, `${facts.playwright ? 'shards' : RECORD}/**/*`)}`,
  ];
}

function reportSteps(facts: PipelineFacts, merge: string[]): string[] {
  return [
    '',
    '- wait: ~',
    '  continue_on_failure: true',
    '',
    '- label: ":bar_chart: report"',
    '  timeout_in_minutes: 10',
    '  command: |',
    ...indented(
      [
        `buildkite-agent artifact download "${fromRoot(facts, 'shards/**/*')}" .`,
        ...cd(facts),
        ...install(facts),
        ...merge,
      ],
      4,
    ),
    `  artifact_paths: ${fromRoot(facts, `${REPORT}/**/*`)}`,
  ];
}
