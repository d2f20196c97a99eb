import { withoutStack } from '../../common/error-message.ts';
import { print } from '../../common/text/notify.ts';
import { PoolwrightError } from '../../errors.ts';
import type { RunnerRun } from '../shared/runner-run.ts';
import { mochaOptions } from './jobs.ts';
import type { MochaRunner } from './mocha-api.ts';
import { requirementOf } from './requirement.ts';

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
    await print(`${error.name}: ${error.message}`);
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
