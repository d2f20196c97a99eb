import type { RunRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from './consumer.ts';
import type { RunningCommand } from './run-command.ts';
import type { ReportedTest } from './run-playwright.ts';
import { suite, wrappedConfig } from './suites.ts';

/** A user's suite on the service of the test, and how it is run. */
export interface Suite {
  /** Second argument of `withHostedBrowsers`, as source text. */
  options?: string;
  /** More keys of the config, as source text. */
  config?: string;
  /** The test files by name, or the only one. One that does not import `test` gets Playwright's `test` and `expect`. */
  tests: string | Record<string, string>;
  /** More files, by path; they may replace `playwright.config.ts`. */
  files?: Record<string, string>;
  /** Of `playwright test`. */
  args?: readonly string[];
  /** In addition to the service's and `SITE_URL`. */
  env?: Record<string, string>;
}

/** A run that goes on. */
export interface StartedSuite extends RunningCommand {
  consumer: Consumer;
}

/** A run that has ended with the expected code. */
export interface SuiteRun {
  consumer: Consumer;
  output: string;
  /** Returns the tests in its JSON report. */
  tests(): Promise<ReportedTest[]>;
  /** Returns its `run.json`. */
  record(): Promise<RunRecord>;
}

/** Returns the files of a suite, by path. */
export function suiteFiles({ options, config, tests, files }: Suite): Record<string, string> {
  const bodies = typeof tests === 'string' ? { a: tests } : tests;
  const specs = Object.entries(bodies).map(([name, body]) => [
    `tests/${name}.spec.ts`,
    /^import .*\btest\b.* from /m.test(body) ? body : suite(body),
  ]);
  return { 'playwright.config.ts': wrappedConfig(options, config), ...Object.fromEntries(specs), ...files };
}
