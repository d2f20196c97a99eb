import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connectToBroker } from '../../broker/rpc/client.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { startBrokerWith } from '../../broker/start/started-broker.ts';
import { errorMessage } from '../../common/error-message.ts';
import { importFile } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';
import { FEATURES, featureSettings } from '../../features/list.ts';
import { DEFAULTS } from '../../options/defaults.ts';
import { connectionSettings, leasePlan } from '../../options/lease-plan.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';
import { assertNoPlaywrightOptions } from '../../options/schema/without-effect.ts';
import type { Runner } from '../../record/enums.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { finishRun } from './finish-run.ts';
import { publishRun, runRefused } from './publish-run.ts';
import { PROJECT, SETTINGS_VARIABLE, type WorkerSettings } from './worker-settings.ts';

/** Supported names of the options file. */
const NAMES = ['ts', 'mts', 'mjs', 'js', 'cjs', 'json'].map((ending) => `poolwright.config.${ending}`);

/** How long an idle browser is kept in watch mode, in ms. A forgotten terminal must not cost a night. */
const WATCHED_IDLE_MS = 600_000;

/** A run, as the runner's main process describes it. */
export interface RunnerStart {
  runner: Exclude<Runner, 'playwright'>;
  /** The runner's root directory, which contains `poolwright.config.*` and `test-results/poolwright`. */
  root: string;
  /** Maximum number of browsers at the same time. */
  workers: number;
  shard: RunRecord['shard'];
  /** Watch mode: browsers are kept between runs, for ten minutes at most. */
  watches?: boolean;
  /** How many browsers are certainly needed. They are requested at once. Default 0. */
  expected?: number;
  /** Default: those of the options file in `root`. */
  options?: HostedOptions;
}

export interface RunnerRun {
  /** Gives every browser back, writes the record, prints the summary. @throws PoolwrightError `BUDGET_EXCEEDED` */
  finish(): Promise<void>;
}

/**
 * Starts the run's broker and publishes its settings in the environment, which the processes that run tests inherit.
 * @throws OptionsError, ServiceError or EmulatorError, before any browser is requested
 */
export async function startRunnerRun(start: RunnerStart): Promise<RunnerRun> {
  const { runner, root, shard } = start;
  const directory = join(root, 'test-results', 'poolwright');
  try {
    return await startIn(directory, start);
  } catch (error) {
    await runRefused({ recordDirectory: directory, runner, shard }, error);
    throw error;
  }
}

/** @param directory of the record */
async function startIn(directory: string, start: RunnerStart): Promise<RunnerRun> {
  const { runner, root, workers, shard, watches = false, expected = 0 } = start;
  const options = start.options ?? (await optionsFromFile(root));
  const plan = leasePlan(options, process.env);
  // Only workers use these. They are checked before any browser is requested.
  const features = featureSettings({ ...DEFAULTS, ...options }, process.env);
  const connection = connectionSettings(options, process.env);
  const run = { runner, recordDirectory: directory, workers, shard };
  const projects = [{ ...PROJECT, plan }];
  const idle = watches ? { idleMs: WATCHED_IDLE_MS } : {};
  const broker = publishRun(await startBrokerWith({ ...run, ...idle, options, directory: root, projects }), run);
  await broker.started();
  // They belong to the record, which this run replaces.
  const kept = Object.keys(FEATURES).map((name) => join(directory, name));
  await Promise.all(kept.map((path) => rm(path, { recursive: true, force: true }).catch(() => undefined)));
  const settings: WorkerSettings = { runner, root, shard, directory, features, connection };
  process.env[SETTINGS_VARIABLE] = JSON.stringify(settings);
  if (expected > 0) await prefetch(broker.address, Math.min(expected, workers));
  return {
    finish: async () => {
      delete process.env[SETTINGS_VARIABLE];
      await finishRun(broker, { directory, htmlReport: null, budget: options.budget });
    },
  };
}

/** Requests the first browsers while the runner loads its tests. @throws LeaseError when the broker is unreachable */
export async function prefetch(address: BrokerAddress, count: number): Promise<void> {
  const control = await connectToBroker(address, 'control');
  try {
    await control.prefetch({ projects: Array.from({ length: count }, () => PROJECT.id) });
  } finally {
    control.close();
  }
}

/**
 * The options of a run whose runner has no place for them in its own config: the default export of
 * `poolwright.config.*` in the root directory. Without that file, defaults and environment variables apply.
 * @param given the path of another file
 * @throws OptionsError for two such files, for one that is missing or cannot be loaded, and for an invalid option
 */
export async function optionsFromFile(root: string, given?: string): Promise<HostedOptions> {
  const found = given === undefined ? NAMES.filter((name) => existsSync(join(root, name))) : [given];
  const [name, second] = found;
  if (name === undefined) return {};
  if (second !== undefined) {
    throw new OptionsError(name, `There are ${found.join(' and ')} in ${root}: keep only one of them.`);
  }
  const options = parseHostedOptions(await load(root, name), name);
  assertNoPlaywrightOptions(options, name);
  return options;
}

async function load(root: string, name: string): Promise<unknown> {
  const path = resolve(root, name);
  // Not by the failure of its loader, which may be about the kind of file.
  if (!existsSync(path)) throw new OptionsError(name, `There is no file ${path}.`);
  try {
    if (name.endsWith('.json')) return JSON.parse(await readFile(path, 'utf8'));
    return (await importFile(path)).default ?? {};
  } catch (error) {
    throw new OptionsError(name, `${name} could not be read: ${errorMessage(error)}.`);
  }
}
