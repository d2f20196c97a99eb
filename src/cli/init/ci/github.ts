import {
  BLOBS,
  chromium,
  fromRoot,
  header,
  indented,
  install,
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

const FORK = 'github.event.pull_request.head.repo.fork';

/** GitHub Actions: a separate workflow. */
export function github(facts: PipelineFacts): string {
  const { playwright } = facts;
  const shards = Array.from({ length: SHARDS }, (_, n) => n + 1).join(', ');
  return textOf(
    header('github', 'Set the secret POOLWRIGHT_API_KEY and the variable POOLWRIGHT_BASE_URL.'),
    [
      'name: Tests on hosted browsers',
      'on:',
      '  push:',
      '    branches: [main, master]',
      '  pull_request:',
      'permissions:',
      '  contents: read',
      'concurrency:',
      `  group: ${expression('github.workflow')}-${expression('github.ref')}`,
      '  cancel-in-progress: true # a cancelled run gives its browsers back',
      '',
      'jobs:',
      '  test:',
      '    runs-on: ubuntu-latest',
      '    timeout-minutes: 30',
      ...(playwright ? ['    strategy:', '      fail-fast: false', '      matrix:', `        shard: [${shards}]`] : []),
    ],
    indented(workingDirectory(facts), 4),
    [
      '    env:',
      '      # Pull requests from forks get no secrets: they run on the emulator, on Chromium of this machine.',
      '      # Everywhere else a missing key is an error.',
      `      POOLWRIGHT_SERVICE: ${expression(`${FORK} == true && 'emulator' || 'hosted'`)}`,
      '    steps:',
    ],
    indented(testSteps(facts), 6),
    playwright ? reportJob(facts, mergeShards(facts, playwright, RECORD)) : [],
  );
}

/** The key is given to the steps that need it, not to the install scripts of dependencies. */
function testSteps(facts: PipelineFacts): string[] {
  const { playwright } = facts;
  const account = [
    `    POOLWRIGHT_BASE_URL: ${expression('vars.POOLWRIGHT_BASE_URL')}`,
    `    POOLWRIGHT_API_KEY: ${expression('secrets.POOLWRIGHT_API_KEY')}`,
  ];
  const kept = playwright ? [BLOBS, RECORD] : [RECORD];
  return [
    ...checkout(facts),
    ...videoWriter(facts).map((line) => `- run: ${line}`),
    "- if: env.POOLWRIGHT_SERVICE == 'emulator'",
    `  run: ${chromium(facts)}`,
    '- name: Tests',
    `  run: ${runTests(facts, `$SHARD/${SHARDS}`)}`,
    '  env:',
    ...(playwright ? [`    SHARD: ${expression('matrix.shard')}`] : []),
    ...account,
    `    POOLWRIGHT_POOL: ${expression(`${FORK} != true && vars.POOLWRIGHT_POOL || ''`)}`,
    '- name: Stop what a killed run left behind',
    '  if: always()',
    `  run: ${sweep(facts)}`,
    '  env:',
    ...account,
    '- uses: actions/upload-artifact@v4',
    `  if: ${expression('!cancelled()')}`,
    '  with:',
    `    name: ${playwright ? `shard-${expression('matrix.shard')}` : 'poolwright'}`,
    '    path: |',
    ...kept.map((path) => `      ${fromRoot(facts, path)}`),
    `    retention-days: ${playwright ? 1 : 14}`,
  ];
}

function reportJob(facts: PipelineFacts, merge: string[]): string[] {
  return [
    '',
    '  report:',
    '    needs: test',
    `    if: ${expression('!cancelled()')}`,
    '    runs-on: ubuntu-latest',
    '    timeout-minutes: 10',
    ...indented(workingDirectory(facts), 4),
    '    steps:',
    ...indented(
      [
        ...checkout(facts),
        '- uses: actions/download-artifact@v4',
        '  with:',
        '    pattern: shard-*',
        `    path: ${fromRoot(facts, 'shards')}`,
        '- name: Merge the shards',
        '  run: |',
        ...indented(merge, 4),
        '- uses: actions/upload-artifact@v4',
        '  with:',
        `    name: ${REPORT}`,
        `    path: ${fromRoot(facts, REPORT)}`,
        '    retention-days: 14',
      ],
      6,
    ),
  ];
}

function checkout(facts: PipelineFacts): string[] {
  return [
    '- uses: actions/checkout@v4',
    '- uses: actions/setup-node@v4',
    '  with:',
    '    node-version: 22',
    ...install(facts).map((line) => `- run: ${line}`),
  ];
}

function workingDirectory({ directory }: PipelineFacts): string[] {
  return directory === '' ? [] : ['defaults:', '  run:', `    working-directory: ${directory}`];
}

/** An expression that GitHub Actions replaces with its value. */
function expression(name: string): string {
  return `\${{ ${name} }}`;
}
