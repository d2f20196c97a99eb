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

const MERGE_REQUEST_OR_MAIN = '$CI_PIPELINE_SOURCE == "merge_request_event" || $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH';

/** GitLab: variables of the project, masked and protected; those of forks do not get them. */
export function gitlab(facts: PipelineFacts): string {
  return textOf(
    header(
      'gitlab',
      'Set POOLWRIGHT_API_KEY (masked, protected) and POOLWRIGHT_BASE_URL in Settings > CI/CD > Variables.',
    ),
    gitlabJobs(facts),
  );
}

/** The jobs alone, for a file that has others. */
export function gitlabJobs(facts: PipelineFacts): string[] {
  const { playwright } = facts;
  return [
    'hosted-browsers:',
    '  image: node:22',
    ...(playwright ? [`  parallel: ${SHARDS}`] : []),
    '  timeout: 30 minutes',
    '  interruptible: true',
    '  variables:',
    '    POOLWRIGHT_SERVICE: hosted',
    '  rules:',
    '    # A merge request from a fork gets no protected variables: it runs on the emulator, on Chromium of this machine.',
    '    - if: $CI_MERGE_REQUEST_SOURCE_PROJECT_ID != $CI_MERGE_REQUEST_PROJECT_ID',
    '      variables:',
    '        POOLWRIGHT_SERVICE: emulator',
    `    - if: ${MERGE_REQUEST_OR_MAIN}`,
    '  script:',
    ...items([
      ...cd(facts),
      ...install(facts),
      ...videoWriter(facts),
      `if [ "$POOLWRIGHT_SERVICE" = emulator ]; then unset POOLWRIGHT_POOL; ${chromium(facts)}; fi`,
      runTests(facts, '$CI_NODE_INDEX/$CI_NODE_TOTAL'),
    ]),
    '  # Runs after a failure, too.',
    '  after_script:',
    ...items([...cd(facts), sweep(facts), ...(playwright ? keepShard('$CI_NODE_INDEX') : [])]),
    '  artifacts:',
    '    when: always',
    `    expire_in: ${playwright ? '1 day' : '2 weeks'}`,
    `    paths: [${fromRoot(facts, playwright ? 'shards/' : `${RECORD}/`)}]`,
    ...(playwright ? reportJob(facts, mergeShards(facts, playwright)) : []),
  ];
}

function reportJob(facts: PipelineFacts, merge: string[]): string[] {
  return [
    '',
    'hosted-browsers-report:',
    '  image: node:22',
    '  stage: .post',
    '  needs: [hosted-browsers]',
    '  rules:',
    `    - if: ${MERGE_REQUEST_OR_MAIN}`,
    '      when: always # after a failure, too',
    '  script:',
    ...items([...cd(facts), ...install(facts), ...merge]),
    '  artifacts:',
    '    expire_in: 2 weeks',
    `    paths: [${fromRoot(facts, `${REPORT}/`)}]`,
  ];
}

function items(lines: string[]): string[] {
  return indented(
    lines.map((line) => `- ${line}`),
    4,
  );
}
