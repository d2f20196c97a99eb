import type { FullConfig, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { notify } from '../../common/text/notify.ts';
import type { ShardsOption } from '../../options/schema/reporter.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { waitWithin } from '../../record/session-record.ts';
import type { ReporterFeature, WholeSuite } from '../feature.ts';
import type { ShardedSuite } from './pieces.ts';
import type { RanSuite, RanTest } from './shard-record.ts';

/**
 * Assigns tests to shards by how long they take, records which tests a shard has run, and measures all tests. The rest
 * is loaded when it is needed: by a run with shards at its start, by others at their end.
 */
export class BalancedShards implements ReporterFeature {
  readonly #option: ShardsOption | false;
  readonly #ran = new Map<TestCase, RanTest>();
  #whole: ShardedSuite | null = null;
  /** How long each test waited for its browsers, in ms, by its ID. */
  #waits: ReadonlyMap<string, number> = new Map();
  #browsers: number | null = null;
  #begun: { config: FullConfig; suite: Suite } | null = null;

  constructor({ shards = {} }: { shards?: ShardsOption | false }) {
    this.#option = shards;
  }

  async preprocess(whole: WholeSuite): Promise<void> {
    if (!whole.config.shard) {
      const { undividedSuite } = await import('./pieces.ts');
      this.#whole = undividedSuite(whole);
      return;
    }
    const { shardSuite } = await import('./shard-suite.ts');
    this.#whole = shardSuite(whole, this.#option);
  }

  suiteBegan(config: FullConfig, suite: Suite): void {
    this.#begun = { config, suite };
    if (config.shard && config.shard.total > 1 && !this.#whole && this.#option !== false)
      notify(`Playwright's own shards: only since 1.62 can a reporter make them, and this is ${config.version}`);
  }

  ended(result: TestResult, test: TestCase): void {
    const { ms, isMeasured } = this.#ran.get(test) ?? { ms: 0, isMeasured: true };
    this.#ran.set(test, { ms: ms + Math.max(0, result.duration), isMeasured: isMeasured && isComplete(test, result) });
  }

  async complete(record: RunRecord): Promise<RunRecord> {
    if (!this.#begun) return record;
    this.#browsers = record.browsers;
    this.#waits = waitsOf(record);
    const { partitionOf, workOf } = await import('./shard-record.ts');
    const suite = await this.#ranSuite(this.#begun);
    return { ...record, work: workOf(suite), ...(suite.config.shard && { partition: partitionOf(suite) }) };
  }

  async close(): Promise<void> {
    if (!this.#begun || this.#option === false || this.#ran.size === 0) return;
    const { writeTimings } = await import('./write-timings.ts');
    await writeTimings(await this.#ranSuite(this.#begun), this.#option);
  }

  async #ranSuite({ config, suite }: { config: FullConfig; suite: Suite }): Promise<RanSuite> {
    const { testsOf } = await import('./suite-tests.ts');
    // In the next run, another test may be the one that waits.
    const ran = [...this.#ran].map(([test, { ms, ...rest }]): [TestCase, RanTest] => {
      return [test, { ...rest, ms: Math.max(0, ms - (this.#waits.get(test.id) ?? 0)) }];
    });
    return { config, ran: new Map(ran), whole: this.#whole, begun: testsOf(config, suite), browsers: this.#browsers };
  }
}

function waitsOf({ sessions }: RunRecord): Map<string, number> {
  const waits = new Map<string, number>();
  for (const session of sessions) {
    for (const { id, startedAt, endedAt } of session.tests) {
      const wait = waitWithin(session, Date.parse(startedAt), Date.parse(endedAt));
      waits.set(id, (waits.get(id) ?? 0) + wait);
    }
  }
  return waits;
}

/** Not of a test that was stopped, or skipped because another one failed. */
function isComplete({ annotations }: TestCase, { status, workerIndex }: TestResult): boolean {
  if (status === 'interrupted' || workerIndex < 0) return false;
  return status !== 'skipped' || annotations.some(({ type }) => type === 'skip' || type === 'fixme');
}
