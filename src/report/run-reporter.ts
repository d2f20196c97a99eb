import { join, resolve } from 'node:path';
import type { FullConfig } from '@playwright/test/reporter';
import type { RunRecord } from '../record/run-record.ts';

/**
 * Connects the global teardown to our reporter, which may be missing: `--reporter=…` on the command line replaces all
 * reporters of the config. Without the reporter, the global teardown reports the run. Stored on `globalThis`, because
 * the two may be loaded by different module systems.
 */

export interface RunReporter {
  /**
   * Completes the record of the run, and replaces the one that the broker wrote. The summary is printed later, after
   * the output of other reporters.
   */
  take(record: RunRecord): Promise<void>;
}

const REPORTER = Symbol.for('poolwright.run-reporter');
const holder = globalThis as { [REPORTER]?: RunReporter };

export function registerReporter(reporter: RunReporter): void {
  holder[REPORTER] = reporter;
}

/** Null if the reporter is not loaded. */
export function runReporter(): RunReporter | null {
  return holder[REPORTER] ?? null;
}

/** Where the files of a run are written. */
export function recordDirectory({ projects }: FullConfig): string {
  return join(projects[0]?.outputDir ?? resolve('test-results'), 'poolwright');
}
