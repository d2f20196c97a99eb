import { join, resolve } from 'node:path';
import type { FullConfig, FullResult, Reporter, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { readRecord } from '../broker/record-file.ts';
import type { RunRecord } from '../broker/run-record.ts';
import type { Budget } from '../options/budget.ts';
import { parseHostedOptions } from '../options/parse.ts';
import { fetchAhead } from './fetch-ahead.ts';
import { htmlReportFrom } from './html-report.ts';
import { publish } from './publish.ts';
import { reportHere } from './reported.ts';
import { TestResults } from './test-results.ts';

export { type RunRecord, runRecord, type SessionRecord, type TestRecord } from '../broker/run-record.ts';
export type { Budget } from '../options/budget.ts';
export { timelinePage } from './timeline/timeline-page.ts';

/** Options of the reporter; `withHostedBrowsers` hands on its own `budget`. */
export interface PoolwrightReporterOptions {
  budget?: Budget;
}

/**
 * Has browsers fetched for the workers that Playwright is starting, and when the run is over completes its record,
 * writes the timeline, prints the summary and holds the run against its budget. Added by `withHostedBrowsers`; in
 * `playwright merge-reports` it works from the attachments.
 */
export default class PoolwrightReporter implements Reporter {
  private readonly startedAt = new Date();
  private readonly budget: Budget;
  private run: { folder: string; report: string | null; results: TestResults } | null = null;

  /** @throws OptionsError for a wrong budget. Playwright adds options of its own. */
  constructor({ budget }: PoolwrightReporterOptions = {}) {
    this.budget = parseHostedOptions(budget ? { budget } : {}, 'the options of poolwright/reporter').budget ?? {};
    reportHere();
  }

  /** Playwright keeps its default terminal reporter when no other one prints. */
  printsToStdio(): boolean {
    return false;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    void fetchAhead(config, suite);
    const folder = join(config.projects[0]?.outputDir ?? resolve('test-results'), 'poolwright');
    this.run = { folder, report: htmlReportFrom(folder, config), results: new TestResults(config.rootDir) };
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    this.run?.results.add(test, result);
  }

  /** The global teardown has written the broker's record by now. */
  async onEnd({ status }: FullResult): Promise<{ status?: FullResult['status'] }> {
    const record = this.record();
    if (this.run === null || record === null) return {};
    const { folder, report } = this.run;
    const exceeded = await publish(record, { folder, report, budget: this.budget });
    return exceeded.length > 0 && status === 'passed' ? { status: 'failed' } : {};
  }

  /** Null when no test of the run used a hosted browser, and none was asked for. */
  private record(): RunRecord | null {
    if (this.run === null) return null;
    const { folder, results } = this.run;
    const written = readRecord(folder);
    // One from before this run is none of its own.
    if (written && Date.parse(written.startedAt) >= this.startedAt.getTime()) return results.complete(written);
    return results.fromAttachments(this.startedAt, new Date());
  }
}
