import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { withoutStack } from '../../common/error-message.ts';
import { print } from '../../common/text/notify.ts';
import { PoolwrightError } from '../../errors.ts';
import type { RunnerRun } from '../shared/runner-run.ts';
import type { MochaRunner } from './mocha-api.ts';
import { requirementOf } from './requirement.ts';

/** The relevant options of Mocha, from command line, .mocharc or package.json. */
interface MochaOptions {
  parallel: boolean;
  watch: boolean;
  /** How many processes run tests. */
  jobs: number;
}

/** The modules with Mocha's function that reads its options, in different versions. */
const LOADERS = ['mocha/lib/cli/options.cjs', 'mocha/lib/cli/options.js'];

let run: RunnerRun | null = null;

/**
 * Starts the broker of the run, in Mocha's main process; with `--watch` once for all runs. On failure, prints the
 * reason and ends Mocha before any browser is requested.
 */
export async function mochaGlobalSetup(this: unknown): Promise<void> {
  const { startRunnerRun } = await import('../shared/runner-run.ts');
  const root = process.cwd();
  const { jobs, parallel, watch } = mochaOptions(root, process.argv.slice(2));
  const expected = !parallel && needsBrowser(this) ? 1 : 0;
  try {
    run = await startRunnerRun({ runner: 'mocha', root, workers: jobs, shard: null, watches: watch, expected });
  } catch (error) {
    // Mocha before 12 would print it as an unhandled rejection.
    if (!(error instanceof PoolwrightError)) throw error;
    await print(String(error));
    process.exit(1);
  }
}

/**
 * Gives every browser back, writes the record, prints the summary.
 * @throws PoolwrightError `BUDGET_EXCEEDED`
 */
export async function mochaGlobalTeardown(): Promise<void> {
  const running = run;
  run = null;
  try {
    await running?.finish();
  } catch (error) {
    // Mocha 12 prints the error and exits with 1. Earlier versions ignore it, so the exit code is set here.
    process.exitCode = 1;
    throw withoutStack(error);
  }
}

/** Whether a selected test is in a file that uses hosted browsers. Mocha has loaded all files by now, and is `this`. */
function needsBrowser(runner: unknown): boolean {
  const { suite, grepTotal } = (runner ?? {}) as Partial<MochaRunner>;
  if (!suite || !grepTotal) return false;
  return suite.suites.some((each) => requirementOf(each.file) !== 'nothing' && grepTotal.call(runner, each) > 0);
}

/** Reads the options, because Mocha does not pass them to a global setup. */
export function mochaOptions(directory: string, args: readonly string[]): MochaOptions {
  const { parallel = false, watch = false, jobs } = loaded(directory, args);
  const isMany = typeof jobs === 'number' && jobs > 0;
  const many = isMany ? jobs : Math.max(1, availableParallelism() - 1);
  return { parallel: parallel === true, watch: watch === true, jobs: parallel === true ? many : 1 };
}

function loaded(directory: string, args: readonly string[]): Record<string, unknown> {
  const require = createRequire(join(directory, 'package.json'));
  for (const path of LOADERS) {
    try {
      return require(path).loadOptions([...args]);
    } catch {
      // Other versions of Mocha.
    }
  }
  return { parallel: args.includes('--parallel'), watch: args.includes('--watch') };
}
