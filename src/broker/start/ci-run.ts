import { randomBytes } from 'node:crypto';

/** A CI run is not tried more often than that. */
const MOST_ATTEMPTS = 100;

/** Where CI systems say which run this is, and which attempt at it. */
const CI_RUNS: readonly { run: string; attempt?: string; name: string; oneByOne?: true }[] = [
  // GitHub begins another attempt only when the whole run is over; the others count each job for itself.
  { name: 'gh', run: 'GITHUB_RUN_ID', attempt: 'GITHUB_RUN_ATTEMPT', oneByOne: true },
  { name: 'gl', run: 'CI_PIPELINE_ID', attempt: 'CI_JOB_ID' },
  { name: 'circle', run: 'CIRCLE_WORKFLOW_ID' },
  { name: 'bk', run: 'BUILDKITE_BUILD_ID', attempt: 'BUILDKITE_RETRY_COUNT' },
  { name: 'az', run: 'BUILD_BUILDID', attempt: 'SYSTEM_JOBATTEMPT' },
  { name: 'jenkins', run: 'BUILD_TAG' },
];

/** Earlier attempts at this CI run, where the CI says that they are over once this one begins. */
export function earlierAttempts(environment: NodeJS.ProcessEnv): string[] {
  const ci = CI_RUNS.find(({ run }) => environment[run]);
  if (!ci?.attempt || !ci.oneByOne) return [];
  const present = Math.min(Number(environment[ci.attempt]), MOST_ATTEMPTS);
  const runs: string[] = [];
  for (let attempt = 1; attempt < present; attempt += 1) {
    runs.push(newRunId({ [ci.run]: environment[ci.run], [ci.attempt]: String(attempt) }));
  }
  return runs;
}

/**
 * The run's ID: the CI's run and attempt where there is one, else a random one. Characters: letters, digits, `.`, `-`.
 */
export function newRunId(environment: NodeJS.ProcessEnv): string {
  for (const { name, run, attempt } of CI_RUNS) {
    const id = environment[run];
    if (!id) continue;
    const tries = attempt && environment[attempt] ? `.${environment[attempt]}` : '';
    return `${name}-${id}${tries}`.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 48);
  }
  return `local-${randomBytes(4).toString('hex')}`;
}
