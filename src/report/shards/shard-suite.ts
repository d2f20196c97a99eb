import type { FullConfig, Suite, TestCase } from '@playwright/test/reporter';
import { notify } from '../../common/text/notify.ts';
import { projectIds } from '../../options/project-ids.ts';
import type { ShardsOption } from '../../options/schema/shards-option.ts';
import type { WholeSuite } from '../feature.ts';
import { duration } from '../summary/format.ts';
import { DEFAULT_FILE, type FoundTimings, findTimings } from './find-timings.ts';
import { expectedMs, type PartitionOptions, partition, type Repeated } from './partition.ts';
import { piecesOf, type SuitePiece } from './pieces.ts';
import { neededBy, type SuiteTest, type SuiteTests, testsOf } from './suite-tests.ts';
import { inserted } from './test-tree.ts';
import { Expectation, hashOf, type Timings } from './timings-file.ts';

/** The tests of a whole suite, and which of them this shard has. */
export interface ShardedSuite {
  tests: SuiteTests;
  /** The timings that were found; null: none. */
  timings: Timings | null;
  /** Null: Playwright's own sharding. */
  assigned: Assigned | null;
}

interface Assigned {
  tests: ReadonlySet<TestCase>;
  /** Of which shard each test is assigned to. */
  hash: string;
  timingsHash: string;
}

/**
 * Excludes the tests of other shards. Without timings, leaves that to Playwright, and says why.
 * @throws OptionsError for a file of the option that is missing or invalid
 */
export function shardSuite(whole: WholeSuite, option: ShardsOption | false): ShardedSuite {
  const { config, suite, testRun } = whole;
  const tests = testsOf(config, suite);
  const total = config.shard?.total ?? 1;
  if (option === false || total === 1) return { tests, timings: null, assigned: null };
  const found = findTimings(config, option, process.env);
  if (!found.timings) {
    notify(
      `Playwright's own shards: ${found.why}. For shards that end together, keep timings.json of \`npx poolwright report merge\`, or of a run's <outputDir>/poolwright, as ${DEFAULT_FILE} beside the config`,
    );
    return { tests, timings: null, assigned: null };
  }
  const expectation = new Expectation(found.timings);
  const pieces = piecesOf(tests.sharded, {
    mode: testRun.mode ? (each) => testRun.mode?.(each) ?? 'default' : null,
    expected: (key) => expectation.of(key),
  });
  const options = { ...found.timings, shards: total, needs: needsOf(config, tests.repeated, expectation, found.timings.workers) };
  const shards = partition(pieces, options);
  const own = pieces.filter((_, n) => shards[n] === (config.shard?.current ?? 1) - 1);
  const assigned = new Set(own.flatMap((piece) => piece.tests.map(({ test }) => test)));
  if (!takesOver(testRun)) return { tests, timings: found.timings, assigned: null };
  excludeOthers(suite, new Set([...assigned, ...tests.repeated.map(({ test }) => test)]), testRun);
  notify(shardLine(config, { own, assigned, tests, options, found, expectation }));
  const hash = hashOf(JSON.stringify(pieces.map((piece, n) => [shards[n], piece.tests.map(({ id }) => id)])));
  return { tests, timings: found.timings, assigned: { tests: assigned, hash, timingsHash: found.hash } };
}

/** By ID of a project, what each shard with a test of it runs in addition. */
function needsOf(
  config: FullConfig,
  repeated: readonly SuiteTest[],
  expectation: Expectation,
  workers: number,
): PartitionOptions['needs'] {
  const ids = projectIds(config.projects.map(({ name }) => name));
  const byProject = new Map<string, Map<string, number>>();
  for (const { key } of repeated) {
    const files = inserted(byProject, key.project, () => new Map<string, number>());
    files.set(key.file, (files.get(key.file) ?? 0) + expectation.of(key));
  }
  const timed = (name: string): Repeated => {
    const files = [...(byProject.get(name)?.values() ?? [])];
    const sum = files.reduce((total, each) => total + each, 0);
    return { name, ms: Math.max(Math.ceil(sum / workers), ...files) };
  };
  return new Map(config.projects.map((project, n) => [ids[n] ?? '', [...neededBy(project, config)].map(timed)]));
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
  own: readonly SuitePiece[];
  assigned: ReadonlySet<TestCase>;
  tests: SuiteTests;
  options: PartitionOptions;
  found: FoundTimings;
  expectation: Expectation;
}

/** `shard 2/5: 34 of 120 tests, about 4.1 min on 4 workers, by poolwright-timings.json`. */
function shardLine(config: FullConfig, { own, assigned, tests, options, found, expectation }: Shares): string {
  const { current = 1, total = 1 } = config.shard ?? {};
  const { workers } = options;
  const many = workers === 1 ? '1 worker' : `${workers} workers`;
  const unknown = tests.sharded.filter(({ key }) => !expectation.knows(key)).length;
  const missing = unknown === 0 ? '' : `; ${unknown} of all tests have no timing yet`;
  const about = duration(expectedMs(own, options));
  return `shard ${current}/${total}: ${assigned.size} of ${tests.sharded.length} tests, about ${about} on ${many}, by ${found.from}${missing}`;
}
