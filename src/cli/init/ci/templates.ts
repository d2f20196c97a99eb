/** What a pipeline of this project needs to know. */
export interface PipelineFacts {
  /** The package's folder in the repository, with `/`; empty: the repository's own. */
  folder: string;
  /** Installs what the lockfile says. */
  install: string;
  /** The package manager; `npm` comes with Node, the others are switched on. */
  manager: string;
  /** Runs a program of the project: `npx playwright test`. */
  exec(args: string[]): string;
  /** Runs the tests; Playwright's take a shard. */
  test: string;
  /** Whether the tests can be divided into shards. */
  sharded: boolean;
  /** Where the pipeline keeps its results. */
  results: string[];
}

/** How many jobs a suite is divided into, to begin with. */
const SHARDS = 2;
const NODE_IMAGE = 'node:22';

const MADE_BY = (provider: string) =>
  `# Made by \`npx poolwright init --ci ${provider}\`. It is yours: init never changes it again.`;

function lines(...parts: (string | string[] | false)[]): string {
  return `${parts
    .flat()
    .filter((line): line is string => line !== false)
    .join('\n')}\n`;
}

/** What has to be there before the install. */
function enable(manager: string): string[] {
  if (manager === 'npm') return [];
  return manager === 'bun' ? ['npm install --global bun'] : ['corepack enable'];
}

/** What GitHub Actions puts in. */
function expression(name: string): string {
  return `\${{ ${name} }}`;
}

/** GitHub Actions. Pull requests from forks get no secrets: they run on the emulator. */
export function github(facts: PipelineFacts): string {
  const { folder, install, manager, exec, test, sharded, results } = facts;
  return lines(
    MADE_BY('github'),
    '# Set the secret POOLWRIGHT_API_KEY and the variables POOLWRIGHT_BASE_URL and POOLWRIGHT_POOL of the repository.',
    'name: Tests on hosted browsers',
    'on:',
    '  push:',
    '    branches: [main, master]',
    '  pull_request:',
    'permissions:',
    '  contents: read',
    'jobs:',
    '  test:',
    '    runs-on: ubuntu-latest',
    '    timeout-minutes: 30',
    sharded && ['    strategy:', '      fail-fast: false', '      matrix:', `        shard: [${numbers(SHARDS)}]`],
    folder !== '' && ['    defaults:', '      run:', `        working-directory: ${folder}`],
    '    env:',
    `      POOLWRIGHT_BASE_URL: ${expression('vars.POOLWRIGHT_BASE_URL')}`,
    `      POOLWRIGHT_API_KEY: ${expression('secrets.POOLWRIGHT_API_KEY')}`,
    `      POOLWRIGHT_POOL: ${expression('vars.POOLWRIGHT_POOL')}`,
    '    steps:',
    '      - uses: actions/checkout@v4',
    '      - uses: actions/setup-node@v4',
    '        with:',
    '          node-version: 22',
    enable(manager).map((line) => `      - run: ${line}`),
    `      - run: ${install}`,
    '      # Pull requests from forks get no secrets: they run on the emulator.',
    "      - if: env.POOLWRIGHT_API_KEY == ''",
    '        run: |',
    `          ${sharded ? exec(['playwright', 'install', '--with-deps', 'chromium']) : 'npx playwright install --with-deps chromium'}`,
    `          nohup ${exec(['poolwright', 'emulator', '--port', '8787', '--api-key', 'emulator'])} > "$RUNNER_TEMP/emulator.log" 2>&1 &`,
    '          curl --silent --fail --retry 30 --retry-delay 1 --retry-all-errors --output /dev/null http://127.0.0.1:8787/doc',
    '          {',
    '            echo "POOLWRIGHT_BASE_URL=http://127.0.0.1:8787"',
    '            echo "POOLWRIGHT_API_KEY=emulator"',
    '            echo "POOLWRIGHT_POOL="',
    '          } >> "$GITHUB_ENV"',
    `      - run: ${test}${sharded ? ` --shard=${expression('matrix.shard')}/${SHARDS}` : ''}`,
    '      - if: always()',
    `        run: ${exec(['poolwright', 'sweep'])}`,
    results.length > 0 && [
      '      - if: always()',
      '        uses: actions/upload-artifact@v4',
      '        with:',
      sharded ? `          name: results-${expression('matrix.shard')}` : '          name: results',
      '          path: |',
      ...results.map((each) => `            ${folder === '' ? each : `${folder}/${each}`}`),
    ],
  );
}

/** GitLab: variables of the project, masked; those of forks are not passed on. */
export function gitlab(facts: PipelineFacts): string {
  return lines(
    MADE_BY('gitlab'),
    '# Set POOLWRIGHT_API_KEY (masked), POOLWRIGHT_BASE_URL and POOLWRIGHT_POOL in Settings > CI/CD > Variables.',
    gitlabJob(facts),
  );
}

/** The job alone, for a file that has others. */
export function gitlabJob({ folder, install, manager, exec, test, sharded, results }: PipelineFacts): string[] {
  return [
    'hosted-browsers:',
    `  image: ${NODE_IMAGE}`,
    ...(sharded ? [`  parallel: ${SHARDS}`] : []),
    '  script:',
    ...[
      ...cd(folder),
      ...enable(manager),
      install,
      test + (sharded ? ' --shard=$CI_NODE_INDEX/$CI_NODE_TOTAL' : ''),
    ].map((line) => `    - ${line}`),
    '  after_script:',
    ...[...cd(folder), exec(['poolwright', 'sweep'])].map((line) => `    - ${line}`),
    ...(results.length > 0
      ? ['  artifacts:', '    when: always', '    paths:', ...results.map((each) => `      - ${below(folder, each)}`)]
      : []),
  ];
}

/** CircleCI: variables of the project or of a context. */
export function circleci(facts: PipelineFacts): string {
  return lines(
    MADE_BY('circleci'),
    '# Set POOLWRIGHT_API_KEY, POOLWRIGHT_BASE_URL and POOLWRIGHT_POOL in Project Settings > Environment Variables.',
    'version: 2.1',
    'jobs:',
    circleciJob(facts).map((line) => `  ${line}`),
    'workflows:',
    '  tests:',
    '    jobs:',
    '      - hosted-browsers',
  );
}

/** The job alone, for a file that has others. */
export function circleciJob({ folder, install, manager, exec, test, sharded, results }: PipelineFacts): string[] {
  const shard = ' --shard=$((CIRCLE_NODE_INDEX + 1))/$CIRCLE_NODE_TOTAL';
  return [
    'hosted-browsers:',
    '  docker:',
    '    - image: cimg/node:22.12',
    ...(sharded ? [`  parallelism: ${SHARDS}`] : []),
    ...(folder === '' ? [] : [`  working_directory: ~/project/${folder}`]),
    '  steps:',
    ...(folder === '' ? ['    - checkout'] : ['    - checkout:', '        path: ~/project']),
    ...[...enable(manager).map((line) => `sudo ${line}`), install, test + (sharded ? shard : '')].map(
      (line) => `    - run: ${line}`,
    ),
    '    - run:',
    `        command: ${exec(['poolwright', 'sweep'])}`,
    '        when: always',
    ...results.flatMap((each) => ['    - store_artifacts:', `        path: ${each}`]),
  ];
}

/** Buildkite: variables of the agents, or of the pipeline. `$$` keeps the upload of the pipeline from reading a variable itself. */
export function buildkite(facts: PipelineFacts): string {
  return lines(
    MADE_BY('buildkite'),
    "# Set POOLWRIGHT_API_KEY (a secret), POOLWRIGHT_BASE_URL and POOLWRIGHT_POOL in the agents' environment.",
    'steps:',
    buildkiteStep(facts).map((line) => `  ${line}`),
  );
}

/** The step alone, for a file that has others. */
export function buildkiteStep({ folder, install, manager, exec, test, sharded, results }: PipelineFacts): string[] {
  const shard = ' --shard=$$((BUILDKITE_PARALLEL_JOB + 1))/$$BUILDKITE_PARALLEL_JOB_COUNT';
  return [
    '- label: Tests on hosted browsers',
    ...(sharded ? [`  parallelism: ${SHARDS}`] : []),
    '  commands:',
    ...[
      ...cd(folder),
      ...enable(manager),
      install,
      `trap '${exec(['poolwright', 'sweep'])}' EXIT`,
      test + (sharded ? shard : ''),
    ].map((line) => `    - ${line}`),
    ...(results.length > 0 ? ['  artifact_paths:', ...results.map((each) => `    - ${below(folder, each)}**/*`)] : []),
  ];
}

function cd(folder: string): string[] {
  return folder === '' ? [] : [`cd ${folder}`];
}

function below(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`;
}

function numbers(count: number): string {
  return Array.from({ length: count }, (_, n) => n + 1).join(', ');
}
