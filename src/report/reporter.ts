import type {
  FullConfig,
  FullResult,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult,
  TestStep,
} from '@playwright/test/reporter';
import { traceTime } from '../common/debug.ts';
import { notify } from '../common/text/notify.ts';
import { rememberedOptions } from '../options/reporter-options.ts';
import { parseHostedOptions } from '../options/schema/parse.ts';
import type { Budget, ShardsOption } from '../options/schema/reporter.ts';
import type { RunRecord } from '../record/run-record.ts';
import { LOCAL_BROWSER } from '../record/test-record.ts';
import { BrokerUpdates } from './broker-updates.ts';
import type { ReporterFeature, WholeSuite } from './feature.ts';
import * as FEATURES from './features.ts';
import { LiveLine } from './live/live-line.ts';
import { localLaunches, localProjects } from './local-browsers.ts';
import type { RunReport } from './run-report.ts';
import { registerReporter } from './run-reporter.ts';

/** Options of the reporter. Default: those of `withHostedBrowsers`. */
export interface PoolwrightReporterOptions {
  /** What the run may use; more makes it fail. Default: no limit. */
  budget?: Budget;
  /** How `--shard` is balanced; `false`: as Playwright does it. Default: by `poolwright-timings.json`. */
  shards?: ShardsOption | false;
}

/**
 * Reports to the broker which tests are still to come, so that it has browsers for them; shows on a terminal what
 * happens to the browsers; and at the end of the run completes its record, writes the timeline, prints the summary and
 * checks the budget. `withHostedBrowsers` adds it. In `playwright merge-reports` it works from the attachments.
 */
export default class PoolwrightReporter implements Reporter {
  readonly #startedAt = new Date();
  readonly #budget: Budget;
  #config: FullConfig | null = null;
  #report: Promise<RunReport> | null = null;
  #live: LiveLine | null = null;
  #updates: BrokerUpdates | null = null;
  readonly #launches: string[] = [];
  /** Errors outside of tests, which Playwright's own reporters print. */
  readonly #errors: string[] = [];
  readonly #features: readonly ReporterFeature[];

  /** @throws OptionsError for wrong options. Playwright adds others. */
  constructor(given: PoolwrightReporterOptions = {}) {
    const { budget, shards } = { ...rememberedOptions(), ...given };
    const known = { ...(budget && { budget }), ...(shards !== undefined && { shards }) };
    const options = parseHostedOptions(known, 'the options of poolwright/reporter');
    this.#budget = options.budget ?? {};
    const all = Object.values<new (options: PoolwrightReporterOptions) => ReporterFeature>(FEATURES);
    this.#features = all.map((Feature) => new Feature(options));
    registerReporter({ take: async (record) => await this.#take(record) });
  }

  /** Playwright keeps its default terminal reporter when no other one prints. */
  printsToStdio(): boolean {
    return false;
  }

  /**
   * Called by Playwright, since 1.62, before it splits the tests into shards.
   * @throws OptionsError for a file of timings that the options name, and that is missing or invalid
   */
  async preprocess(whole: WholeSuite): Promise<void> {
    for (const feature of this.#features) await feature.preprocess?.(whole);
  }

  /** Called by Playwright when the tests are known. */
  onBegin(config: FullConfig, suite: Suite): void {
    traceTime('runner', 'the tests are known');
    const local = localProjects(suite);
    if (local !== null) notify(local);
    this.#updates = BrokerUpdates.open(config, suite, (connection) => {
      for (const feature of this.#features) feature.connected?.(connection);
    });
    this.#live = LiveLine.start();
    for (const feature of this.#features) feature.suiteBegan?.(config, suite);
    this.#config = config;
  }

  /** Called by Playwright when a try of a test begins. */
  onTestBegin(test: TestCase, result: TestResult): void {
    this.#updates?.began(test, result);
    for (const feature of this.#features) feature.began?.(test, result);
    // While the first test runs, this process is idle.
    void this.#loaded();
  }

  /** Called by Playwright when a step begins. */
  onStepBegin(_test: TestCase, result: TestResult, step: TestStep): void {
    for (const feature of this.#features) feature.stepBegan?.(result, step);
  }

  /** Called by Playwright when a step has ended. */
  onStepEnd(_test: TestCase, result: TestResult, step: TestStep): void {
    for (const feature of this.#features) feature.stepEnded?.(result, step);
  }

  /** Called by Playwright when a try of a test has ended. */
  onTestEnd(test: TestCase, result: TestResult): void {
    this.#updates?.ended(test, result);
    for (const feature of this.#features) feature.ended(result, test);
    for (const { type, description } of test.annotations)
      if (type === LOCAL_BROWSER && description !== undefined) this.#launches.push(description);
    void this.#loaded()?.then((report) => report.add(test, result));
  }

  /** Called by Playwright for an error outside of tests, such as one of the global teardown. */
  onError({ message }: TestError): void {
    this.#errors.push(message ?? '');
  }

  /** The global teardown is over, and the record of the broker has been taken. */
  async onEnd({ status }: FullResult): Promise<{ status?: FullResult['status'] }> {
    traceTime('runner', 'end');
    this.#live?.stop();
    for (const feature of this.#features) await feature.close();
    this.#updates?.close();
    if (this.#launches.length > 0) notify(localLaunches(this.#launches));
    const exceeded = (await (await this.#loaded())?.print(this.#errors)) ?? [];
    return exceeded.length > 0 && status === 'passed' ? { status: 'failed' } : {};
  }

  async #take(record: RunRecord): Promise<void> {
    let completed = record;
    for (const feature of this.#features) completed = (await feature.complete?.(completed)) ?? completed;
    await (await this.#loaded())?.take(completed);
  }

  /** Null before the run begins. */
  #loaded(): Promise<RunReport> | null {
    const config = this.#config;
    if (!config) return null;
    this.#report ??= import('./run-report.ts').then(
      ({ RunReport }) => new RunReport(config, this.#budget, this.#startedAt),
    );
    return this.#report;
  }
}
