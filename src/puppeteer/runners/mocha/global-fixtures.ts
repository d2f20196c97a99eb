import { withoutStack } from '../../../common/text/without-stack.ts';
import { PoolwrightError } from '../../../errors.ts';
import type { RunnerRun } from '../runner-run.ts';
import { mochaOptions } from './jobs.ts';
import { wantedBy } from './mentions.ts';
import type { MochaRunner } from './mocha-api.ts';

let run: RunnerRun | null = null;

/**
 * Starts the broker of the run, in Mocha's main process; with `--watch` once for all runs.
 * Where it cannot, it prints the one error that says why and ends Mocha, before any browser was asked for.
 */
export async function mochaGlobalSetup(this: unknown): Promise<void> {
  const { startRunnerRun } = await import('../runner-run.ts');
  const root = process.cwd();
  const { jobs, parallel, watch } = mochaOptions(root, process.argv.slice(2));
  const expected = !parallel && wantsBrowser(this) ? 1 : 0;
  try {
    run = await startRunnerRun({ runner: 'mocha', root, workers: jobs, shard: null, watches: watch, expected });
  } catch (error) {
    // Mocha before 12 lets Node print it as an unhandled rejection of Mocha's own.
    if (!(error instanceof PoolwrightError)) throw error;
    await new Promise((written) => process.stderr.write(`${error.name}: ${error.message}\n`, written));
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
    // Mocha 12 shows it and exits with 1. Before that it drops it, and what is left decides.
    process.exitCode = 1;
    throw withoutStack(error);
  }
}

/** Whether a test that will run is in a file on hosted browsers. Mocha loads the files first, and is `this` here. */
function wantsBrowser(runner: unknown): boolean {
  const { suite, grepTotal } = (runner ?? {}) as Partial<MochaRunner>;
  if (!suite || !grepTotal) return false;
  return suite.suites.some((each) => wantedBy(each.file) !== 'nothing' && grepTotal.call(runner, each) > 0);
}
