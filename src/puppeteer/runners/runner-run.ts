import { join } from 'node:path';
import { connectToBroker } from '../../broker/rpc/client.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { DEFAULTS } from '../../options/defaults.ts';
import { exposedNetwork } from '../../options/expose-network.ts';
import { leasePlan } from '../../options/lease-plan.ts';
import type { Runner, RunRecord } from '../../record/run-record.ts';
import { finishRun } from '../../setup/finish-run.ts';
import { startRun } from '../../setup/start-run.ts';
import { linkSettings } from '../../worker/link/link-settings.ts';
import { optionsFromFile } from './options-file.ts';
import { PROJECT, SETTINGS_VARIABLE, type WorkerSettings } from './worker-settings.ts';

/** How long a browser waits for a file to change, in ms: a forgotten terminal must not cost a night. */
const WATCHED_IDLE_MS = 600_000;

/** A runner's run, as its main process tells of it. */
export interface RunnerStart {
  runner: Exclude<Runner, 'playwright'>;
  /** The runner's root folder: of `poolwright.config.*`, and of `test-results/poolwright`. */
  root: string;
  /** How many browsers it will use at most at once. */
  workers: number;
  shard: RunRecord['shard'];
  /** A user watches files: browsers are kept between two runs, for ten minutes at most. */
  watches?: boolean;
  /** For how many of them tests are there for certain: those browsers are fetched now. Default 0. */
  expected?: number;
}

/** A run with its broker. */
export interface RunnerRun {
  /** Gives every browser back, writes the record, prints the summary. @throws PoolwrightError `BUDGET_EXCEEDED` */
  finish(): Promise<void>;
}

/**
 * Starts the one broker of a run, and tells the processes that run tests, which inherit this one's environment.
 * @throws OptionsError, ServiceError or EmulatorError codes, before any browser was asked for
 */
export async function startRunnerRun(start: RunnerStart): Promise<RunnerRun> {
  const { runner, root, workers, shard, watches = false, expected = 0 } = start;
  const options = await optionsFromFile(root);
  const folder = join(root, 'test-results', 'poolwright');
  const plan = leasePlan(options, process.env);
  const projects = [{ ...PROJECT, plan }];
  const broker = await startRun({
    runner,
    options,
    folder: root,
    recordFolder: folder,
    workers,
    shard,
    projects,
    ...(watches && { idleMs: WATCHED_IDLE_MS }),
  });
  const settings: WorkerSettings = {
    runner,
    root,
    shard,
    reuse: options.reuse ?? DEFAULTS.reuse,
    link: linkSettings(options, exposedNetwork(options.exposeNetwork, {}), process.env),
  };
  process.env[SETTINGS_VARIABLE] = JSON.stringify(settings);
  if (expected > 0) await prefetch(broker.address, Math.min(expected, workers));
  return {
    finish: async () => {
      delete process.env[SETTINGS_VARIABLE];
      await finishRun(broker, { folder, htmlReport: null }, options.budget);
    },
  };
}

/** The first browsers come while the runner loads its tests. @throws LeaseError when the broker cannot be reached */
export async function prefetch(address: BrokerAddress, count: number): Promise<void> {
  const control = await connectToBroker(address, 'control');
  try {
    await control.prefetch({ projects: Array.from({ length: count }, () => PROJECT.id) });
  } finally {
    control.close();
  }
}
