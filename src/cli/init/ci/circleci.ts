import {
  chromium,
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

/** CircleCI: variables of the project, which builds of forks do not get. */
export function circleci(facts: PipelineFacts): string {
  return textOf(
    header('circleci', 'Set POOLWRIGHT_API_KEY and POOLWRIGHT_BASE_URL in Project Settings > Environment Variables.'),
    ['version: 2.1', 'jobs:'],
    indented(circleciJobs(facts), 2),
    ['workflows:', '  tests:', '    jobs:', '      - hosted-browsers'],
    facts.playwright
      ? ['      - hosted-browsers-report:', '          requires:', '            - hosted-browsers: [success, failed]']
      : [],
  );
}

/** The jobs alone, for a file that has others. */
export function circleciJobs(facts: PipelineFacts): string[] {
  const { playwright } = facts;
  return [
    'hosted-browsers:',
    ...machine(facts),
    ...(playwright ? [`  parallelism: ${SHARDS}`] : []),
    '  environment:',
    '    POOLWRIGHT_SERVICE: hosted',
    '  steps:',
    ...indented(
      [
        ...checkout(facts),
        ...videoWriter(facts).map((line) => `- run: ${line}`),
        '- run:',
        '    # A pull request from a fork gets no secrets: it runs on the emulator, on Chromium of this machine.',
        '    name: Emulator for forks',
        '    command: |',
        '      if [ -n "$CIRCLE_PR_REPONAME" ]; then',
        `        echo 'export POOLWRIGHT_SERVICE=emulator; unset POOLWRIGHT_POOL' >> "$BASH_ENV"`,
        `        ${chromium(facts)}`,
        '      fi',
        '- run:',
        '    name: Tests',
        ...testCommand(facts),
        '- run:',
        '    name: Stop what a killed run left behind',
        '    when: always',
        `    command: ${sweep(facts)}`,
        ...(playwright ? shardSteps() : artifacts(RECORD)),
      ],
      4,
    ),
    ...(playwright ? reportJob(facts, mergeShards(facts, playwright)) : []),
  ];
}

function reportJob(facts: PipelineFacts, merge: string[]): string[] {
  const steps = [
    ...checkout(facts),
    '- attach_workspace:',
    '    at: .',
    '- run:',
    '    name: Merge the shards',
    '    command: |',
    ...indented(merge, 6),
    ...artifacts(REPORT),
  ];
  return ['', 'hosted-browsers-report:', ...machine(facts), '  steps:', ...indented(steps, 4)];
}

/** The files of a shard are kept after a failure, too: its last step is the one that fails. */
function testCommand(facts: PipelineFacts): string[] {
  const command = runTests(facts, '$((CIRCLE_NODE_INDEX + 1))/$CIRCLE_NODE_TOTAL');
  return [`    command: ${command}${facts.playwright ? ' || touch tests-failed' : ''}`];
}

function shardSteps(): string[] {
  return [
    '- run:',
    '    name: Files of this shard',
    '    command: |',
    ...indented(keepShard('$CIRCLE_NODE_INDEX'), 6),
    '- persist_to_workspace:',
    '    root: .',
    '    paths: [shards]',
    '- run:',
    '    name: Result',
    '    command: test ! -e tests-failed',
  ];
}

function artifacts(path: string): string[] {
  return ['- store_artifacts:', `    path: ${path}`];
}

function machine({ directory }: PipelineFacts): string[] {
  return [
    '  docker:',
    '    - image: cimg/node:22.14',
    ...(directory === '' ? [] : [`  working_directory: ~/project/${directory}`]),
  ];
}

function checkout(facts: PipelineFacts): string[] {
  return [
    ...(facts.directory === '' ? ['- checkout'] : ['- checkout:', '    path: ~/project']),
    ...install(facts, 'sudo ').map((line) => `- run: ${line}`),
  ];
}
