import { availableParallelism } from 'node:os';
import type { TestProject } from 'vitest/node';
import { PoolwrightError, withCodedName } from '../../errors.ts';
import type { RunnerRun } from '../shared/runner-run.ts';

/** Several projects of one Vitest share one run. */
let shared: { run: Promise<RunnerRun>; projects: number } | null = null;

/**
 * `globalSetup: 'poolwright/vitest'`. Starts the broker of the run. Returns the teardown, which Vitest in watch mode
 * calls when it exits.
 * @throws OptionsError, ServiceError or EmulatorError, before any browser is requested
 */
export async function setUp(project: TestProject): Promise<() => Promise<void>> {
  shared ??= { run: start(project), projects: 0 };
  const mine = shared;
  mine.projects += 1;
  const run = await mine.run.catch((error: unknown) => Promise.reject(withoutFields(error)));
  return async () => {
    mine.projects -= 1;
    if (mine.projects > 0) return;
    shared = null;
    await finish(run);
  };
}

/** Removes the error's fields, which Vitest would print below its message although the message contains them. */
function withoutFields(error: unknown): unknown {
  if (!(error instanceof PoolwrightError)) return error;
  const { name, message } = withCodedName(error);
  return Object.assign(new Error(message), { name, stack: String(error) });
}

/** Vitest prints an error of a teardown but exits with 0. The summary has already reported the exceeded budget. */
async function finish(run: RunnerRun): Promise<void> {
  try {
    await run.finish();
  } catch (error) {
    if (!(error instanceof PoolwrightError) || error.code !== 'BUDGET_EXCEEDED') throw error;
    process.exitCode = 1;
  }
}

async function start(project: TestProject): Promise<RunnerRun> {
  const { startRunnerRun } = await import('../shared/runner-run.ts');
  const { config } = project.vitest;
  const { root, shard, watch } = config;
  return await startRunnerRun({
    runner: 'vitest',
    root,
    workers: workersOf(config),
    shard: shard ? { current: shard.index, total: shard.count } : null,
    watches: watch,
  });
}

/** The maximum number of Vitest's workers: from the config, else Vitest's default. */
function workersOf(config: TestProject['vitest']['config']): number {
  const { maxWorkers, watch } = config;
  if (typeof maxWorkers === 'number') return maxWorkers;
  // For Vitest before version 4, which sets `maxWorkers` instead.
  if ('fileParallelism' in config && config.fileParallelism === false) return 1;
  const cores = availableParallelism();
  return Math.max(1, watch ? Math.floor(cores / 2) : cores - 1);
}
