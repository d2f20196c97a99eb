import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { FullConfig } from '@playwright/test/reporter';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { inContinuousIntegration } from '../../options/environment.ts';
import { projectDirectory } from '../../options/project-directory.ts';
import type { ShardsOption } from '../../options/schema/reporter.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';
import { runReporter } from '../run-reporter.ts';
import { configDirectory } from './suite-tests.ts';
import { hashOf, parseTimings, type Timings, timingsText } from './timings-file.ts';

const NONE = 'there are no timings yet';
/** Beside the config. */
export const DEFAULT_FILE = 'poolwright-timings.json';

/** Timings, and where they are from. */
export interface FoundTimings {
  timings: Timings;
  hash: string;
  /** For the user. */
  from: string;
}

export type TimingsSearch = FoundTimings | { timings: null; why: string };

/**
 * Reads the timings of the option's file, else the file beside the config, else this machine's cache.
 * @throws OptionsError for a file of the option that is missing or invalid
 */
export function findTimings(config: FullConfig, option: ShardsOption, env: NodeJS.ProcessEnv): TimingsSearch {
  const directory = configDirectory(config);
  if (option.timings !== undefined) {
    const read = readTimings(resolve(directory, option.timings));
    if (read.timings) return withTests({ ...read, from: option.timings });
    throw new OptionsError(
      'shards.timings',
      `\`shards.timings\` names ${option.timings}, but ${read.why}. A run writes such a file to <outputDir>/poolwright/timings.json, and \`npx poolwright report merge\` to its --output.`,
    );
  }
  const beside = readTimings(join(directory, DEFAULT_FILE));
  if (beside.timings) return withTests({ ...beside, from: DEFAULT_FILE });
  if (!beside.isMissing) return { timings: null, why: `${DEFAULT_FILE} is not used: ${beside.why}` };
  const cache = cacheFile(config, env);
  const cached = cache === null ? beside : readTimings(cache);
  if (cached.timings) return withTests({ ...cached, from: `the cache of this machine, ${relative('', cache ?? '')}` });
  return { timings: null, why: NONE };
}

function withTests(found: FoundTimings): TimingsSearch {
  return found.timings.tests.entries().next().done ? { timings: null, why: NONE } : found;
}

/** Before a browser is requested. @throws OptionsError for a file of the option that is missing or invalid */
export function checkRun(config: FullConfig, { shards = {} }: HostedOptions): void {
  if (!config.shard || config.shard.total === 1 || shards === false) return;
  if (shards.timings !== undefined) findTimings(config, shards, process.env);
  if (!runReporter())
    notify(
      "Playwright's own shards, because `--reporter` has replaced poolwright's reporter: add it, as in `--reporter=blob,poolwright/reporter`",
    );
}

/** Of Azure Pipelines, Jenkins and TeamCity, which do not set `CI`. */
const OTHER_CI = ['TF_BUILD', 'JENKINS_URL', 'TEAMCITY_VERSION'];

/**
 * Written by runs without shards only: the shards of a run must all read the same. Null: in CI, where other machines
 * have another one; or there is no directory that only this user can write to.
 */
export function cacheFile(config: FullConfig, env: NodeJS.ProcessEnv): string | null {
  if (inContinuousIntegration(env) || OTHER_CI.some((name) => env[name])) return null;
  const directory = configDirectory(config);
  const { ledgerDirectory } = projectDirectory(directory);
  const hash = createHash('sha256')
    .update(config.configFile ?? directory)
    .digest('hex')
    .slice(0, 12);
  return ledgerDirectory && join(ledgerDirectory, `timings-${hash}.json`);
}

type ReadFile = { timings: Timings; hash: string } | { timings: null; why: string; isMissing: boolean };

function readTimings(file: string): ReadFile {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing ? 'the file does not exist' : `it cannot be read (${errorMessage(error)})`;
    return { timings: null, why, isMissing };
  }
  const parsed = parseTimings(content);
  if ('why' in parsed) return { timings: null, why: parsed.why, isMissing: false };
  return { timings: parsed.timings, hash: hashOf(timingsText(parsed.timings)) };
}
