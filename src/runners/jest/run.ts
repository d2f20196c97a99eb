import { sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { notify } from '../../common/text/notify.ts';
import { OptionsError, PoolwrightError } from '../../errors.ts';
import { prefetch, type RunnerRun, startRunnerRun } from '../shared/runner-run.ts';

/** The part of Jest's global config that a run needs. */
export interface GlobalConfig {
  /** Absolute path of the project. */
  rootDir: string;
  /** Number of workers, 1 or more. */
  maxWorkers: number;
  /** The number of failed tests after which Jest ends the run; 0: never. */
  bail: number;
  /** Whether it runs the tests of changed files again. */
  watch: boolean;
  /** Whether it runs all tests again after a change. */
  watchAll: boolean;
  /** The shard of this run, `shardIndex` from 1 on; absent: all tests. */
  shard?: { shardIndex: number; shardCount: number } | undefined;
}

/** The run of this Jest process (in watch mode: of all its runs), and how many browsers were prefetched for it. */
let currentRun: (RunnerRun & { prefetched: number }) | null = null;
/** Whether the run would end without a summary if Jest exited now. */
let summaryMissing = false;

/** @throws OptionsError when a run has already started; see also `startRunnerRun` */
export async function startJestRun(config: GlobalConfig): Promise<void> {
  if (currentRun && isWatching(config)) return;
  if (currentRun) {
    throw new OptionsError(
      'globalSetup',
      'poolwright was set up twice in this run. Call `setup` of poolwright/jest only in a `globalSetup` that replaces that of the preset. With `projects`, use the same `globalSetup` in all of them.',
    );
  }
  const { rootDir: root, maxWorkers: workers, shard } = config;
  const run = await startRunnerRun({
    runner: 'jest',
    root,
    workers,
    shard: shard ? { current: shard.shardIndex, total: shard.shardCount } : null,
    watches: isWatching(config),
  });
  currentRun = { ...run, prefetched: 0 };
  summaryMissing = !isWatching(config);
  process.once('exit', (code) => {
    if (code === 0 && summaryMissing) {
      notify(
        'no summary: your `globalTeardown` replaces that of the preset and must call `teardown` of poolwright/jest',
      );
    }
  });
}

/** @param inUse how many browsers will be used at the same time, as far as known */
export async function prefetchBrowser(inUse: number): Promise<void> {
  const address = sharedBrokerOf(process.env);
  if (!currentRun || !address || inUse <= currentRun.prefetched) return;
  currentRun.prefetched += 1;
  // If this fails, the workers request browsers themselves and report the error.
  await prefetch(address, 1).catch(() => undefined);
}

/**
 * Gives all browsers back, writes the record and prints the summary. Does nothing in watch mode: the browsers are used
 * in the next run, and the broker ends with Jest. If the run exceeded its budget, Jest exits with code 1.
 */
export async function finishJestRun(config: GlobalConfig): Promise<void> {
  if (!currentRun || isWatching(config)) return;
  const run = currentRun;
  currentRun = null;
  summaryMissing = false;
  try {
    await run.finish();
  } catch (error) {
    if (!(error instanceof PoolwrightError) || error.code !== 'BUDGET_EXCEEDED') throw error;
    // Thrown here, it would stop Jest from writing the output of other reporters and `--json`. The summary has reported
    // it.
    process.once('exit', () => {
      process.exitCode ||= 1;
    });
  }
}

function isWatching({ watch, watchAll }: GlobalConfig): boolean {
  return watch || watchAll;
}
