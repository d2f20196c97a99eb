import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FullConfig, TestCase, TestResult } from '@playwright/test/reporter';
import type { Budget } from '../options/schema/reporter.ts';
import { readRecord } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { htmlReportFrom } from './html-report.ts';
import { printRun, type WrittenRun, writeRun } from './publish.ts';
import { recordDirectory } from './run-reporter.ts';
import { TestResults } from './test-results.ts';

/**
 * The record, timeline and summary of one run of Playwright Test. The reporter loads this while the first test runs:
 * what it needs takes longer to load than the rest of the reporter.
 */
export class RunReport {
  readonly #config: FullConfig;
  readonly #budget: Budget;
  readonly #startedAt: Date;
  readonly #results: TestResults;
  #written: WrittenRun | null = null;

  constructor(config: FullConfig, budget: Budget, startedAt: Date) {
    this.#config = config;
    this.#budget = budget;
    this.#startedAt = startedAt;
    this.#results = new TestResults(config.rootDir);
  }

  /** A try of a test is over. */
  add(test: TestCase, result: TestResult): void {
    this.#results.add(test, result);
  }

  /** Completes the broker's record with the tests' final results, and writes the run's files. */
  async take(record: RunRecord): Promise<void> {
    await this.#write(this.#results.complete(record));
  }

  /**
   * Prints the summary. Returns which limits of the budget were exceeded, one line each.
   * @param said the errors that Playwright has printed
   */
  async print(said: readonly string[]): Promise<string[]> {
    if (!this.#written) await this.#writeFromWhatIsLeft();
    return this.#written ? printRun(this.#written, said) : [];
  }

  /**
   * Without a record from a broker: uses the last checkpoint of a broker that died, else the attachments. Writes
   * nothing when no test used a hosted browser.
   */
  async #writeFromWhatIsLeft(): Promise<void> {
    const directory = this.#directory;
    const checkpoint = readRecord(directory);
    // Ignore the checkpoint of an earlier run.
    if (checkpoint && Date.parse(checkpoint.startedAt) >= this.#startedAt.getTime()) {
      // A run that could not begin: Playwright has printed the reason.
      if (checkpoint.runId === null) return;
      return await this.#write(this.#results.complete(checkpoint));
    }
    const record = this.#results.fromAttachments();
    if (!record) return;
    // Merged blobs name the output directory of the machine that ran the tests.
    const isHere = existsSync(dirname(dirname(directory)));
    await this.#write(record, isHere ? directory : resolve('test-results', 'poolwright'));
  }

  async #write(record: RunRecord, directory = this.#directory): Promise<void> {
    const htmlReport = htmlReportFrom(directory, this.#config);
    this.#written = await writeRun(record, { directory, htmlReport, budget: this.#budget });
  }

  get #directory(): string {
    return recordDirectory(this.#config);
  }
}
