import type { FullConfig, Suite, TestCase } from '@playwright/test/reporter';
import { notify } from '../../common/text/notify.ts';
import type { ShardsOption } from '../../options/schema/reporter.ts';
import type { WholeSuite } from '../feature.ts';
import { duration, many } from '../summary/format.ts';
import { DEFAULT_FILE, type FoundTimings, findTimings } from './find-timings.ts';
import { expectedMs, type PartitionOptions, type Piece, partition, workersWithBrowser } from './partition.ts';
import { needsOf, type ShardedSuite, type SuitePiece, undividedSuite } from './pieces.ts';
import { type SuiteTests, workersOf } from './suite-tests.ts';
import { Expectation, hashOf } from './timings-file.ts';

/**
 * Excludes the tests of other shards. Without timings, leaves that to Playwright, and says why.
 * @throws OptionsError for a file of the option that is missing or invalid
 */
export function shardSuite(whole: WholeSuite, option: ShardsOption | false): ShardedSuite {
  const { config, suite, testRun } = whole;
  const undivided = undividedSuite(whole);
  const { tests } = undivided;
  const total = config.shard?.total ?? 1;
  if (option === false || total === 1) return undivided;
  // UI mode shows Playwright's own shard, and runs what is selected in it.
  if (process.argv.some((arg) => /^--ui(-host|-port)?(=|$)/.test(arg))) {
    takesOver(testRun);
    return undivided;
  }
  const found = findTimings(config, option, process.env);
  if (!found.timings) {
    notify(
      `Playwright's own shards: ${found.why}. For shards that end together, keep timings.json of \`npx poolwright report merge\`, or of a run's <outputDir>/poolwright, as ${DEFAULT_FILE} beside the config`,
    );
    return undivided;
  }
  const expectation = new Expectation(found.timings);
  const pieces = undivided.pieces.map((piece) => ({ ...piece, ms: expectedOf(piece, expectation) }));
  const { projectWorkers, browsers } = found.timings;
  const workers = workersWithBrowser(found.timings.workers, browsers, total);
  const needs = needsOf(config, tests.repeated, workers, ({ key }) => expectation.of(key));
  const options = { workers, projectWorkers, shards: total, needs };
  const shards = partition(pieces, options);
  const shardPieces = pieces.filter((_, n) => shards[n] === (config.shard?.current ?? 1) - 1);
  const assigned = new Set(shardPieces.flatMap((piece) => piece.tests.map(({ test }) => test)));
  if (!takesOver(testRun)) return { ...undivided, timings: found.timings };
  excludeOthers(suite, new Set([...assigned, ...tests.repeated.map(({ test }) => test)]), testRun);
  notify(shardLine(config, { pieces: shardPieces, assigned, tests, options, found, expectation }));
  const hash = hashOf(JSON.stringify(pieces.map((piece, n) => [shards[n], piece.tests.map(({ id }) => id)])));
  return {
    tests,
    pieces: shardPieces,
    timings: found.timings,
    assigned: { tests: assigned, hash, timingsHash: found.hash },
  };
}

/**
 * Even a test that is skipped takes a little. Whether it is skipped does not count: where that depends on the machine
 * or the time, shards would assign tests differently, and one would run twice or never.
 */
function expectedOf({ tests }: SuitePiece, expectation: Expectation): number {
  return tests.reduce((sum, { key }) => sum + Math.max(1, expectation.of(key)), 0);
}

/** Whether Playwright leaves the shards to us: it does so for one reporter only. */
function takesOver(testRun: WholeSuite['testRun']): boolean {
  try {
    testRun.skipSharding();
    return true;
  } catch {
    notify('another reporter makes the shards. `shards: false` in the options of poolwright turns off this line');
    return false;
  }
}

/** Whole suites first: without tests, a project would still run its setup projects. */
function excludeOthers(suite: Suite, kept: ReadonlySet<TestCase>, testRun: WholeSuite['testRun']): void {
  for (const entry of [...suite.suites]) {
    const tests = entry.allTests();
    if (tests.length === 0 || tests.every((test) => kept.has(test))) continue;
    if (tests.some((test) => kept.has(test))) excludeOthers(entry, kept, testRun);
    else testRun.exclude(entry);
  }
  for (const test of [...suite.tests]) if (!kept.has(test)) testRun.exclude(test);
}

interface Shares {
  pieces: readonly Piece[];
  assigned: ReadonlySet<TestCase>;
  tests: SuiteTests;
  options: PartitionOptions;
  found: FoundTimings;
  expectation: Expectation;
}

/**
 * `shard 2/5: 34 of 120 tests, about 4.1 min on 4 workers, by poolwright-timings.json`: on the workers of this run,
 * which may be others than those of the timings.
 */
function shardLine(config: FullConfig, { pieces, assigned, tests, options, found, expectation }: Shares): string {
  const { current = 1, total = 1 } = config.shard ?? {};
  const { browsers } = found.timings;
  const here = workersOf(config);
  const workers = workersWithBrowser(here.workers, browsers, total);
  const all = many(here.workers, 'worker');
  const shared = `(${total} shards share ${many(browsers ?? 0, 'browser')})`;
  const on = workers < here.workers ? `${workers} of ${all} ${shared}` : all;
  const unknown = tests.sharded.filter(({ key }) => !expectation.knows(key)).length;
  const missing = unknown === 0 ? '' : `; ${unknown} of all tests have no timing yet`;
  const about = duration(expectedMs(pieces, { ...options, ...here, workers }));
  return `shard ${current}/${total}: ${assigned.size} of ${tests.sharded.length} tests, about ${about} on ${on}, by ${found.from}${missing}`;
}
