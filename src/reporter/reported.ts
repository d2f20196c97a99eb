import type { RunRecord } from '../record/run-record.ts';

/**
 * Hands the run's record to our reporter, if it is loaded: `--reporter=…` on the command line replaces all reporters of
 * the config, and then the global teardown reports. On `globalThis`, because the two may be loaded in different module
 * systems.
 */

/** A reporter that will report the run. */
export interface RunReporter {
  /**
   * Completes and writes the record of the run; false: it could not, or no run has begun for it. The summary follows
   * when Playwright calls the reporter, after the output of others.
   */
  take(record: RunRecord): Promise<boolean>;
}

const REPORTER = Symbol.for('poolwright.run-reporter');
const holder = globalThis as { [REPORTER]?: RunReporter };

/** Called by the reporter when it is loaded. */
export function reportHere(reporter: RunReporter): void {
  holder[REPORTER] = reporter;
}

/** Null where no reporter is loaded. */
export function runReporter(): RunReporter | null {
  return holder[REPORTER] ?? null;
}
