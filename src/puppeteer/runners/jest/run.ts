import { sharedBrokerOf } from '../../../broker/rpc/shared-broker.ts';
import { notify } from '../../../common/text/notify.ts';
import { OptionsError, PoolwrightError } from '../../../errors.ts';
import { prefetch, type RunnerRun, startRunnerRun } from '../runner-run.ts';

/** As much of Jest's global config as a run needs. */
export interface GlobalConfig {
  rootDir: string;
  maxWorkers: number;
  bail: number;
  watch: boolean;
  watchAll: boolean;
  shard?: { shardIndex: number; shardCount: number } | undefined;
}

/** The one run of this Jest, in watch mode that of all its runs; and how many browsers were fetched ahead for it. */
let present: (RunnerRun & { fetched: number }) | null = null;
/** Whether Jest's end would be a run's end without a summary. */
let forgotten = false;

/** @throws OptionsError when it has started already, and see `startRunnerRun` */
export async function startJestRun(config: GlobalConfig): Promise<void> {
  if (present && isWatching(config)) return;
  if (present) {
    throw new OptionsError(
      'globalSetup',
      'poolwright was set up twice in this run: `setup` of poolwright/jest is for a `globalSetup` that takes the place of the preset’s. With `projects`, let all of them name the same `globalSetup`.',
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
  present = { ...run, fetched: 0 };
  forgotten = !isWatching(config);
  process.once('exit', (code) => {
    if (code === 0 && forgotten) {
      notify(
        'no summary: a `globalTeardown` of your own takes the place of the preset’s, and calls `teardown` of poolwright/jest',
      );
    }
  });
}

/** @param inUse how many browsers will be in use at once, as far as is known by now */
export async function fetchAhead(inUse: number): Promise<void> {
  const address = sharedBrokerOf(process.env);
  if (!present || !address || inUse <= present.fetched) return;
  present.fetched += 1;
  // Where it fails, the workers ask for themselves, and say what is wrong.
  await prefetch(address, 1).catch(() => undefined);
}

/**
 * Gives every browser back, writes the record and prints the summary. In watch mode nothing is done: its browsers serve
 * the next run, and when Jest ends, the broker ends. A run over its budget makes Jest end with exit code 1.
 */
export async function finishJestRun(config: GlobalConfig): Promise<void> {
  if (!present || isWatching(config)) return;
  const run = present;
  present = null;
  forgotten = false;
  try {
    await run.finish();
  } catch (error) {
    if (!(error instanceof PoolwrightError) || error.code !== 'BUDGET_EXCEEDED') throw error;
    // Thrown here, it would keep Jest from writing what other reporters have, `--json` among it. The summary has said it.
    process.once('exit', () => {
      process.exitCode ||= 1;
    });
  }
}

function isWatching({ watch, watchAll }: GlobalConfig): boolean {
  return watch || watchAll;
}
