import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { FullConfig, FullResult, Reporter, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { notify } from '../common/text/notify.ts';
import { traceTime } from '../common/time-trace.ts';
import type { Budget } from '../options/schema/budget.ts';
import { parseHostedOptions } from '../options/schema/parse.ts';
import { withFigures } from '../record/figures.ts';
import { readRecord } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { BrokerLine } from './broker-line.ts';
import { htmlReportFrom } from './html-report.ts';
import { LiveLine } from './live/live-line.ts';
import { printRun, type WrittenRun, writeRun } from './publish.ts';
import { reportHere } from './reported.ts';
import { TestResults } from './test-results.ts';
import { timelineHtml } from './timeline/timeline-page.ts';

export type { Budget } from '../options/schema/budget.ts';
export { type RunRecord, runRecord, type SessionRecord, type TestRecord } from '../record/run-record.ts';

/** Options of the reporter; `withHostedBrowsers` hands on its own `budget`. */
export interface PoolwrightReporterOptions {
  /** What the run may use; more makes it fail. Default: no limit. */
  budget?: Budget;
}

/**
 * The timeline of a record: one HTML file that loads nothing. Its policy lets only its own script and style run.
 * @param report address of Playwright's HTML report, seen from the page (`../../playwright-report/index.html`); null: none
 */
export function timelinePage(record: RunRecord, report: string | null = null): string {
  return timelineHtml(withFigures(record), report);
}

/** The run that Playwright has begun. */
interface SeenRun {
  config: FullConfig;
  results: TestResults;
}

/**
 * Tells the broker which tests are to come, so that it has the browsers for them, shows on a terminal what becomes of them, and when
 * the run is over completes its record, writes the timeline, prints the summary and holds the run against its budget.
 * Added by `withHostedBrowsers`; in `playwright merge-reports` it works from the attachments.
 */
export default class PoolwrightReporter implements Reporter {
  readonly #startedAt = new Date();
  readonly #budget: Budget;
  #run: SeenRun | null = null;
  #live: LiveLine | null = null;
  #line: BrokerLine | null = null;
  #written: WrittenRun | null = null;

  /** @throws OptionsError for a wrong budget. Playwright adds options of its own. */
  constructor({ budget }: PoolwrightReporterOptions = {}) {
    this.#budget = budget ? (parseHostedOptions({ budget }, 'the options of poolwright/reporter').budget ?? {}) : {};
    reportHere({ take: (record) => this.#take(record) });
  }

  /** Playwright keeps its default terminal reporter when no other one prints. */
  printsToStdio(): boolean {
    return false;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    traceTime('runner', 'the tests are known');
    sayLocalProjects(suite);
    this.#line = BrokerLine.open(config, suite);
    this.#live = LiveLine.start();
    this.#run = { config, results: new TestResults(config.rootDir) };
  }

  onTestBegin(test: TestCase, result: TestResult): void {
    this.#line?.began(test, result);
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    this.#line?.ended(test, result);
    this.#run?.results.add(test, result);
  }

  /** The global teardown is over, and has handed over the broker's record. */
  async onEnd({ status }: FullResult): Promise<{ status?: FullResult['status'] }> {
    traceTime('runner', 'end');
    this.#live?.stop();
    this.#line?.close();
    const written = this.#written ?? (this.#run && (await this.#writeFromWhatIsLeft(this.#run)));
    if (!written) return {};
    const exceeded = printRun(written, this.#budget);
    return exceeded.length > 0 && status === 'passed' ? { status: 'failed' } : {};
  }

  async #take(record: RunRecord): Promise<boolean> {
    if (!this.#run) return false;
    const { config, results } = this.#run;
    const folder = folderOf(config);
    const written = await write(results.complete(record), folder, config);
    this.#written = written;
    return written.isRecorded;
  }

  /**
   * Without a record that was handed over: from the last checkpoint of a broker that died, else from the attachments.
   * Null when no test of the run used a hosted browser, and none was asked for.
   */
  async #writeFromWhatIsLeft({ config, results }: SeenRun): Promise<WrittenRun | null> {
    const folder = folderOf(config);
    const checkpoint = readRecord(folder);
    // One from before this run is none of its own.
    if (checkpoint && Date.parse(checkpoint.startedAt) >= this.#startedAt.getTime()) {
      return await write(results.complete(checkpoint), folder, config);
    }
    const record = results.fromAttachments();
    if (!record) return null;
    // Blobs that are merged name the output folder of the machine that ran the tests.
    const here = existsSync(dirname(dirname(folder))) ? folder : resolve('test-results', 'poolwright');
    return await write(record, here, config);
  }
}

/** Which of the projects that run stay on local browsers, where others do not: the wrapper marks them. */
function sayLocalProjects(suite: Suite): void {
  const hosted = suite.suites.map((each) => {
    const use: object = each.project()?.use ?? {};
    return { name: each.title, option: 'hosted' in use ? use.hosted : undefined };
  });
  const local = hosted.filter(({ option }) => option === false).map(({ name }) => name || 'the default project');
  const isMixed = hosted.some(({ option }) => typeof option === 'object');
  if (isMixed && local.length > 0) notify(`on local browsers: ${local.join(', ')}`);
}

async function write(record: RunRecord, folder: string, config: FullConfig): Promise<WrittenRun> {
  return await writeRun(record, { folder, htmlReport: htmlReportFrom(folder, config) });
}

function folderOf(config: FullConfig): string {
  return join(config.projects[0]?.outputDir ?? resolve('test-results'), 'poolwright');
}
