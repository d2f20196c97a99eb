import type { RunRecord } from '../record/run-record.ts';

/**
 * Who reports the run: our reporter, if it is loaded (`--reporter=…` on the command line takes the place of all that
 * the config names), else the global teardown. On `globalThis`, because the two may be loaded in different module
 * systems.
 */

/** A reporter that will report the run. */
export interface RunReporter {
  /**
   * Takes over the record of the run that is over, and writes it; false: it could not, or has seen no run. What is to
   * be said is said in the reporter's turn, after the other reporters' output has begun.
   */
  take(record: RunRecord): Promise<boolean>;
}

const REPORTER = Symbol.for('poolwright.run-reporter');
const holder = globalThis as { [REPORTER]?: RunReporter };

/** Said by the reporter when it is loaded. */
export function reportHere(reporter: RunReporter): void {
  holder[REPORTER] = reporter;
}

/** Null where no reporter is loaded. */
export function runReporter(): RunReporter | null {
  return holder[REPORTER] ?? null;
}
