import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { debugEnabled } from '../../common/debug.ts';
import { OptionsError } from '../../errors.ts';
import type { MergedOptions } from '../../options/lease-plan.ts';
import { projectDirectory } from '../../options/project-directory.ts';
import { resolveService, type ServiceChoice } from '../../options/resolve-service.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import type { BrokerConfig } from '../config/config.ts';
import { limitsFile } from '../ledger/known-limits.ts';
import { makeSocketAddress } from '../rpc/socket-address.ts';
import { StartedBroker } from './started-broker.ts';

/** Options that a run passes to its broker. */
export interface StartOptions
  extends Omit<
    BrokerConfig,
    'service' | 'address' | 'token' | 'mark' | 'deadMarks' | 'debug' | 'startTimeoutMs' | 'onlySweep'
  > {
  service: ServiceChoice;
}

/** A run, or a single process, that needs a broker. */
export interface BrokerStart
  extends Pick<
    StartOptions,
    'idleMs' | 'projects' | 'recordDirectory' | 'runner' | 'shard' | 'workers' | 'workersChosen'
  > {
  options: MergedOptions;
  /** Directory of the user's package. */
  directory: string;
}

/** Deadline for a run's start, in ms: includes the start of the emulator and retries of an overloaded service. */
const START_TIMEOUT_MS = 120_000;

/**
 * Starts a broker from the options and this process's environment, which decide on the service, the run and the place
 * of its ledger.
 * @throws OptionsError for invalid options; {@link StartedBroker.ready} reports all other errors
 */
export async function startBrokerWith({
  options,
  directory,
  ...start
}: BrokerStart): Promise<{ broker: StartedBroker; service: ServiceChoice }> {
  const chosen = resolveService({ ...options, pool: options.pool ?? undefined }, process.env);
  const isWithoutService = chosen.kind === 'browsers' || chosen.kind === 'provider';
  if (isWithoutService) for (const { plan } of start.projects) assertOwn(plan, chosen.kind);
  const service =
    chosen.kind === 'provider' ? { ...chosen, file: resolve(chosen.isOption ? directory : '.', chosen.file) } : chosen;
  const { name, suite, ledgerDirectory } = projectDirectory(directory);
  const broker = await startBroker({
    ...start,
    runId: newRunId(process.env),
    service,
    name,
    suite,
    ledgerDirectory,
    // Not the suite's directory, which a config does not know when it asks for them.
    limitsFile: limitsFile(process.cwd(), service),
    overRuns: earlierAttempts(process.env),
  });
  return { broker, service };
}

const OWN = {
  browsers: 'browsers that run already (`browsers` or POOLWRIGHT_CDP_URL)',
  provider: 'those of another one (`provider` or POOLWRIGHT_PROVIDER)',
};

/** Rejects options that only concern browsers of the service. @throws OptionsError */
function assertOwn({ pool, session }: LeasePlan, kind: 'browsers' | 'provider'): void {
  const field = pool !== null ? 'pool' : Object.keys(session).length > 0 ? 'session' : null;
  if (field === null) return;
  throw new OptionsError(
    field,
    `\`${field}\`${field === 'pool' ? ' (POOLWRIGHT_POOL)' : ''} is for browsers of the service, and this run uses ${OWN[kind]}: set only one of them.`,
  );
}

/**
 * Starts the single process that holds this run's leases. If it dies during the run, a replacement starts at the same
 * address and first gives back the browsers in the dead broker's ledger.
 */
export async function startBroker(options: StartOptions): Promise<StartedBroker> {
  const { directory, path: address } = await makeSocketAddress();
  const token = randomBytes(24).toString('base64url');
  const debug = debugEnabled('poolwright:broker', process.env.DEBUG);
  return new StartedBroker({ ...options, address, token, startTimeoutMs: START_TIMEOUT_MS, debug }, directory);
}

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
function earlierAttempts(environment: NodeJS.ProcessEnv): string[] {
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
function newRunId(environment: NodeJS.ProcessEnv): string {
  for (const { name, run, attempt } of CI_RUNS) {
    const id = environment[run];
    if (!id) continue;
    const tries = attempt && environment[attempt] ? `.${environment[attempt]}` : '';
    return `${name}-${id}${tries}`.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 48);
  }
  return `local-${randomBytes(4).toString('hex')}`;
}
