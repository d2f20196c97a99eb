import type { HostedOptions } from '../options/schema/schema.ts';
import type { RunRecord } from '../record/run-record.ts';

/**
 * Connects the global teardown to our reporter, which may be missing: `--reporter=…` on the command line replaces all
 * reporters of the config. Without the reporter, the global teardown reports the run. Stored on `globalThis`, because
 * the two may be loaded by different module systems.
 */

/** A reporter that reports the run. */
export interface RunReporter {
  /**
   * Completes the record of the run, and replaces the one that the broker wrote. The summary is printed later, after
   * the output of other reporters.
   */
  take(record: RunRecord): Promise<void>;
}

const REPORTER = Symbol.for('poolwright.run-reporter');
const OPTIONS = Symbol.for('poolwright.reporter-options');
const holder = globalThis as { [REPORTER]?: RunReporter; [OPTIONS]?: Pick<HostedOptions, 'budget' | 'shards'> };

/** The reporter calls this when it is loaded. */
export function registerReporter(reporter: RunReporter): void {
  holder[REPORTER] = reporter;
}

/** Null if the reporter is not loaded. */
export function runReporter(): RunReporter | null {
  return holder[REPORTER] ?? null;
}

/** The config's options, for a reporter that the command line names (`--reporter=blob,poolwright/reporter`). */
export function rememberOptions({ budget, shards }: HostedOptions): void {
  holder[OPTIONS] = { ...(budget && { budget }), ...(shards !== undefined && { shards }) };
}

/** Empty without the wrapper. */
export function rememberedOptions(): Pick<HostedOptions, 'budget' | 'shards'> {
  return holder[OPTIONS] ?? {};
}
