import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { TestProject } from 'vitest/node';
import { PoolwrightError } from '../../../errors.ts';
import type { RunnerRun } from '../runner-run.ts';

/** What a test file on hosted browsers imports. */
const OURS = 'poolwright/vitest';

/** Several projects of one Vitest have one run. */
let shared: { run: Promise<RunnerRun>; projects: number } | null = null;

/**
 * `globalSetup: 'poolwright/vitest'`: starts the broker of the run. What it returns is the teardown, which in watch mode
 * is called when Vitest ends.
 * @throws OptionsError, ServiceError or EmulatorError codes, before any browser was asked for
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

/** Vitest prints an error's fields below its message, which says all of it. */
function withoutFields(error: unknown): unknown {
  if (!(error instanceof PoolwrightError)) return error;
  const { name, message } = error;
  return Object.assign(new Error(message), { name, stack: `${name}: ${message}` });
}

/** Vitest prints what a teardown throws, and ends as if nothing had been; the summary has said what was exceeded. */
async function finish(run: RunnerRun): Promise<void> {
  try {
    await run.finish();
  } catch (error) {
    if (!(error instanceof PoolwrightError) || error.code !== 'BUDGET_EXCEEDED') throw error;
    process.exitCode = 1;
  }
}

async function start(project: TestProject): Promise<RunnerRun> {
  const { startRunnerRun } = await import('../runner-run.ts');
  const { config } = project.vitest;
  const { root, shard, watch } = config;
  return await startRunnerRun({
    runner: 'vitest',
    root,
    workers: workersOf(config),
    shard: shard ? { current: shard.index, total: shard.count } : null,
    watches: watch,
    // Of a shard's files it is not known which they are.
    expected: shard ? 0 : await countFiles(project),
  });
}

/** How many workers Vitest starts at most: what the config says, else Vitest's own default. */
function workersOf(config: TestProject['vitest']['config']): number {
  const { maxWorkers, watch } = config;
  if (typeof maxWorkers === 'number') return maxWorkers;
  // Before Vitest 4, which says so in `maxWorkers`.
  if ('fileParallelism' in config && config.fileParallelism === false) return 1;
  const cores = availableParallelism();
  return Math.max(1, watch ? Math.floor(cores / 2) : cores - 1);
}

/** How many test files there are on hosted browsers. */
async function countFiles(project: TestProject): Promise<number> {
  const { testFiles } = await project.globTestFiles();
  const ours = await Promise.all(testFiles.map(async (file) => (await readFile(file, 'utf8')).includes(OURS)));
  return ours.filter(Boolean).length;
}
