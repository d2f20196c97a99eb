import type { FullConfig, TestCase } from '@playwright/test/reporter';
import { recordedMs } from '../../record/bounds.ts';
import type { RunRecord } from '../../record/run-record.ts';
import type { ShardedSuite } from './shard-suite.ts';
import { ByTest } from './test-tree.ts';

/** A test that has run. */
export interface RanTest {
  /** All its tries. */
  ms: number;
  /** Whether that says how long it will take. */
  isMeasured: boolean;
}

export interface RanSuite {
  config: FullConfig;
  ran: ReadonlyMap<TestCase, RanTest>;
  /** Null: before Playwright 1.62, a reporter sees the tests of its shard only. */
  whole: ShardedSuite | null;
  /** The tests that were to run. */
  begun: ShardedSuite['tests'];
}

/** What a shard has run, for its record. */
export function partitionOf({ config, ran, whole, begun }: RanSuite): RunRecord['partition'] {
  const { tests, assigned } = whole ?? { tests: begun, assigned: null };
  const begins = new Set(begun.sharded.map(({ test }) => test));
  // `--last-failed` leaves out tests after the shards are made: what others left out is unknown.
  const isFiltered =
    process.argv.includes('--last-failed') || [...(assigned?.tests ?? [])].some((test) => !begins.has(test));
  const complete = whole !== null && !isFiltered;
  const byTest = new ByTest<number | null>();
  for (const { test, id } of tests.sharded) {
    const ms = ran.get(test)?.ms;
    if (ms !== undefined || complete) byTest.set(id, ms === undefined ? null : recordedMs(Math.round(ms)));
  }
  return {
    hash: assigned?.hash ?? null,
    timings: assigned?.timingsHash ?? null,
    playwright: config.version,
    complete,
    tests: byTest.tree,
  };
}
