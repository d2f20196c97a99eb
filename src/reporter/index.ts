import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { FullConfig, FullResult, Reporter, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import type { Budget } from '../options/budget.ts';
import { parseHostedOptions } from '../options/parse.ts';
import { readRecord } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { fetchAhead } from './fetch-ahead.ts';
import { htmlReportFrom } from './html-report.ts';
import { LiveLine } from './live/live-line.ts';
import { publish } from './publish.ts';
import { reportHere } from './reported.ts';
import { TestResults } from './test-results.ts';

export type { Budget } from '../options/budget.ts';
export { type RunRecord, runRecord, type SessionRecord, type TestRecord } from '../record/run-record.ts';
export { timelinePage } from './timeline/timeline-page.ts';

/** Options of the reporter; `withHostedBrowsers` hands on its own `budget`. */
export interface PoolwrightReporterOptions {
  budget?: Budget;
}

/**
 * Has browsers fetched for the workers that Playwright is starting, shows on a terminal what becomes of them, and when the
 * run is over completes its record, writes the timeline, prints the summary and holds the run against its budget. Added by `withHostedBrowsers`; in
 * `playwright merge-reports` it works from the attachments.
 */
export default class PoolwrightReporter implements Reporter {
  readonly #startedAt = new Date();
  readonly #budget: Budget;
  #run: { config: FullConfig; results: TestResults } | null = null;
  #live: LiveLine | null = null;

  /** @throws OptionsError for a wrong budget. Playwright adds options of its own. */
  constructor({ budget }: PoolwrightReporterOptions = {}) {
    this.#budget = parseHostedOptions(budget ? { budget } : {}, 'the options of poolwright/reporter').budget ?? {};
    reportHere();
  }

  /** Playwright keeps its default terminal reporter when no other one prints. */
  printsToStdio(): boolean {
    return false;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    void fetchAhead(config, suite);
    this.#live = LiveLine.start();
    this.#run = { config, results: new TestResults(config.rootDir) };
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    this.#run?.results.add(test, result);
  }

  /** The global teardown has written the broker's record by now. */
  async onEnd({ status }: FullResult): Promise<{ status?: FullResult['status'] }> {
    this.#live?.stop();
    const end = this.#run && this.#recordOf(this.#run);
    if (!this.#run || !end?.record) return {};
    const { folder, record } = end;
    const report = htmlReportFrom(folder, this.#run.config);
    const exceeded = await publish(record, { folder, report, budget: this.#budget });
    return exceeded.length > 0 && status === 'passed' ? { status: 'failed' } : {};
  }

  /** The record is null when no test of the run used a hosted browser, and none was asked for. */
  #recordOf({ config, results }: { config: FullConfig; results: TestResults }): {
    folder: string;
    record: RunRecord | null;
  } {
    const outputDir = config.projects[0]?.outputDir ?? resolve('test-results');
    const folder = join(outputDir, 'poolwright');
    const written = readRecord(folder);
    // One from before this run is none of its own.
    if (written && Date.parse(written.startedAt) >= this.#startedAt.getTime()) {
      return { folder, record: results.complete(written) };
    }
    // Blobs that are merged name the output folder of the machine that ran the tests.
    const here = existsSync(dirname(outputDir)) ? folder : resolve('test-results', 'poolwright');
    return { folder: here, record: results.fromAttachments() };
  }
}
