import { randomBytes } from 'node:crypto';

/** Where CI systems say which run this is, and which attempt at it. */
const CI_RUNS: readonly { run: string; attempt?: string; name: string }[] = [
  { name: 'gh', run: 'GITHUB_RUN_ID', attempt: 'GITHUB_RUN_ATTEMPT' },
  { name: 'gl', run: 'CI_PIPELINE_ID', attempt: 'CI_JOB_ID' },
  { name: 'circle', run: 'CIRCLE_WORKFLOW_ID' },
  { name: 'bk', run: 'BUILDKITE_BUILD_ID', attempt: 'BUILDKITE_RETRY_COUNT' },
  { name: 'az', run: 'BUILD_BUILDID', attempt: 'SYSTEM_JOBATTEMPT' },
  { name: 'jenkins', run: 'BUILD_TAG' },
];

/** The run's ID: the CI's run and attempt where there is one, else a random one. Characters: letters, digits, `.`, `-`. */
export function newRunId(environment: NodeJS.ProcessEnv): string {
  for (const { name, run, attempt } of CI_RUNS) {
    const id = environment[run];
    if (!id) continue;
    const tries = attempt && environment[attempt] ? `.${environment[attempt]}` : '';
    return `${name}-${id}${tries}`.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 48);
  }
  return `local-${randomBytes(4).toString('hex')}`;
}
