import { join, resolve } from 'node:path';
import type { FullConfig, Reporter, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { readRecord, recordText, writeWhole } from '../broker/record-file.ts';
import type { RunRecord } from '../broker/run-record.ts';
import { fetchAhead } from './fetch-ahead.ts';
import { htmlReportFrom } from './html-report.ts';
import { printSummary, reportSummaryHere } from './summary.ts';
import { TestResults } from './test-results.ts';
import { timelinePage } from './timeline/timeline-page.ts';

export { type RunRecord, runRecord, type SessionRecord, type TestRecord } from '../broker/run-record.ts';
export { timelinePage } from './timeline/timeline-page.ts';

/**
 * Has browsers fetched for the workers that Playwright is starting, and when the run is over completes its record and
 * prints the summary. Added by `withHostedBrowsers`; in `playwright merge-reports` it works from the attachments.
 */
export default class PoolwrightReporter implements Reporter {
  private readonly startedAt = new Date();
  private folder: string | null = null;
  private results: TestResults | null = null;
  private report: string | null = null;

  constructor() {
    reportSummaryHere();
  }

  /** Playwright keeps its default terminal reporter when no other one prints. */
  printsToStdio(): boolean {
    return false;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    void fetchAhead(config, suite);
    this.folder = join(config.projects[0]?.outputDir ?? resolve('test-results'), 'poolwright');
    this.results = new TestResults(config.rootDir);
    this.report = htmlReportFrom(this.folder, config);
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    this.results?.add(test, result);
  }

  /** The global teardown has written the broker's record by now. */
  async onEnd(): Promise<void> {
    const record = this.record();
    if (this.folder === null || record === null) return;
    await writeWhole(join(this.folder, 'run.json'), recordText(record));
    await writeWhole(join(this.folder, 'timeline.html'), timelinePage(record, this.report));
    printSummary(record, this.folder);
  }

  /** Null when no test of the run used a hosted browser, and none was asked for. */
  private record(): RunRecord | null {
    if (this.folder === null || this.results === null) return null;
    const written = readRecord(this.folder);
    // One from before this run is none of its own.
    if (written && Date.parse(written.startedAt) >= this.startedAt.getTime()) return this.results.complete(written);
    return this.results.fromAttachments(this.startedAt, new Date());
  }
}
