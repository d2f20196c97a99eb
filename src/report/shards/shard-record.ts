import type { FullConfig, TestCase } from '@playwright/test/reporter';
import { recordedMs, recordedText } from '../../record/bounds.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { needsOf, type ShardedSuite } from './pieces.ts';
import { workersOf } from './suite-tests.ts';
import { ByTest } from './test-tree.ts';

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
  /** How many browsers may run at once, for all shards together; null: unknown. */
  browsers: number | null;
}

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

/** How long the pieces of a run took. */
export function workOf({ config, ran, whole }: RanSuite): RunRecord['work'] {
  if (!whole) return null;
  const workers = workersOf(config);
  const ms = ({ test }: { test: TestCase }) => Math.round(ran.get(test)?.ms ?? 0);
  const begun = whole.pieces.filter(({ tests }) => tests.some(({ test }) => ran.has(test)));
  if (begun.length === 0) return null;
  return {
    ...workers,
    pieces: begun.map(({ project, tests }) => ({
      project,
      ms: recordedMs(tests.reduce((sum, each) => sum + ms(each), 0)),
    })),
    needs: [...needsOf(config, whole.tests.repeated, workers.workers, ms)].flatMap(([project, needed]) =>
      needed.map(({ name, ms: took }) => ({ project, needed: recordedText(name), ms: recordedMs(took) })),
    ),
  };
}
