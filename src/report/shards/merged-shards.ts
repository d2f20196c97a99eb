import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { largest, smallestKnown } from '../../common/numbers/extremes.ts';
import { writeAtomically } from '../../common/write-atomically.ts';
import type { FigureRow } from '../../record/figures.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { mergeRecords } from '../../record/shards/merge-records.ts';
import { missingShards, type ShardPart, shardSets } from '../../record/shards/shard-sets.ts';
import type { MergedRecords, MergeFeature } from '../feature.ts';
import { duration } from '../summary/format.ts';
import { balancedMs, howManyShards, SHARD_COLUMNS } from './how-many.ts';
import { ByTest, compareTexts, shownTest, type TestKey } from './test-tree.ts';
import { parseTimings, type Timings, timingsText, withMeasured } from './timings-file.ts';

/** How many tests are named. The others are counted. */
const LISTED = 20;

/** A shard that is not itself merged. */
interface Part extends ShardPart {
  record: RunRecord;
}

/** A shard that says which tests it ran. */
interface KnownPart extends Part {
  partition: NonNullable<RunRecord['partition']>;
}

export const mergedShards: MergeFeature = {
  problems: (records) => shardSets(records.flatMap(partOf)).flatMap(problemsOf),

  figures: (records) => shardSets(records.flatMap(partOf)).flatMap(balanceOf),

  tables: [
    {
      name: 'shards',
      description: 'Show how long the tests would take in how many shards, with how many browsers each',
      columns: SHARD_COLUMNS,
      rows: howManyShards,
      why: 'the record does not say how long the pieces of the suite take: Playwright Test does since 1.62',
    },
  ],

  async write(merged) {
    const timings = mergedTimings(merged);
    if (!timings) return [];
    const file = join(merged.directory, 'timings.json');
    await writeAtomically(file, timingsText(timings));
    return [file];
  },
};

function partOf(record: RunRecord): Part[] {
  const { shard, merged } = record;
  return shard && merged.length === 0 ? [{ record, ...shard }] : [];
}

/** The problems in the shards of one run. */
function problemsOf(set: readonly Part[]): string[] {
  const known = set.flatMap((part): KnownPart[] => {
    const { partition } = part.record;
    return partition ? [{ ...part, partition }] : [];
  });
  // Other runners do not say which tests they ran, nor does Playwright without our reporter.
  if (known.length === 0) return [];
  const ran = new ByTest<number[]>();
  for (const { current, partition } of known) {
    for (const [id, ms] of ByTest.of(partition.tests).entries()) {
      const shards = ran.get(id) ?? [];
      ran.set(id, ms === null ? shards : [...shards, current]);
    }
  }
  const tests = [...ran.entries()];
  const twice = tests.filter(([, shards]) => shards.length > 1);
  const isWhole = known.length === set.length && missingShards(set) === null;
  const isComplete = isWhole && known.every(({ partition }) => partition.complete);
  const never = isComplete ? tests.filter(([, shards]) => shards.length === 0) : [];
  const silent = set.filter(({ record }) => !record.partition);
  return [
    ...silent.map(({ current, total }) => `shard ${current} of ${total} does not say which tests it ran`),
    ...named('ran in more than one shard', twice, (shards) => ` (shards ${shards.join(', ')})`),
    ...named('ran in no shard', never, () => ''),
    ...(twice.length + never.length > 0 ? causes(known) : []),
  ];
}

/** How long the shards of one run took, and how long balanced ones would have taken. */
function balanceOf(set: readonly Part[]): FigureRow[] {
  const took = set.flatMap(({ record: { startedAt, endedAt } }) =>
    endedAt === null ? [] : Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)),
  );
  if (took.length < 2 || took.length < set.length) return [];
  const each = set.map(({ current, total }, n) => `${current}/${total} ${duration(took[n] ?? 0)}`).join(', ');
  const mean = took.reduce((sum, ms) => sum + ms, 0) / took.length;
  const merged = mergeRecords(set.map(({ record }) => record));
  const balanced = balancedMs(merged, set[0]?.total ?? 1);
  const tests =
    balanced === null ? '' : `. Balanced by these timings, the tests of the longest one take ${duration(balanced)}`;
  return [{ label: 'shards', value: `${each}; in equal parts ${duration(mean)} each${tests}` }];
}

function named(
  what: string,
  tests: readonly [TestKey, readonly number[]][],
  where: (shards: readonly number[]) => string,
): string[] {
  const rest = tests.length - LISTED;
  return [
    ...tests.slice(0, LISTED).map(([key, shards]) => `${what}: ${shownTest(key)}${where(shards)}`),
    ...(rest > 0 ? [`${what}: ${rest} more ${rest === 1 ? 'test' : 'tests'}`] : []),
  ];
}

/** In what the shards differ that must be equal. */
function causes(known: readonly KnownPart[]): string[] {
  const differs = (of: (part: KnownPart) => unknown) => new Set(known.map(of)).size > 1;
  const suiteOf = ({ partition }: KnownPart) =>
    partition.complete
      ? JSON.stringify([...ByTest.of(partition.tests).entries()].map(([id]) => shownTest(id)).sort())
      : '';
  const found = [
    ...(differs(({ partition }) => partition.timings) ? ['timings'] : []),
    ...(differs(suiteOf) ? ['tests'] : []),
    ...(differs(({ partition }) => partition.playwright) ? ['versions of Playwright'] : []),
  ];
  const cause = found.length > 0 ? `they had different ${found.join(' and ')}` : null;
  const isSplit = differs(({ partition }) => partition.hash);
  if (!isSplit && cause === null) return [];
  const list = known.map(({ current }) => current).join(', ');
  return [`shards ${list} were made differently: ${cause ?? 'they assigned the same tests to different shards'}`];
}

/** The timings of all runs. Null: nothing is known. */
function mergedTimings({ records, files }: MergedRecords): Timings | null {
  const runs = records.map((record, n): TimedRun => ({ record, timings: timingsBeside(files[n] ?? '') }));
  const tests = withMeasured(histories(runs), runs.flatMap(onlyRecorded));
  if (tests.entries().next().done) return null;
  const written = runs.flatMap(({ timings }) => timings ?? []);
  const workers = largest(
    written.map((each) => each.workers),
    1,
  );
  const limits = written.flatMap(({ projectWorkers }) => Object.entries(projectWorkers));
  const projectWorkers = Object.fromEntries(limits.sort(([a], [b]) => compareTexts(a, b)));
  const browsers = smallestKnown(written.map((each) => each.browsers));
  return { workers, projectWorkers, browsers, tests };
}

interface TimedRun {
  record: RunRecord;
  /** From the file beside its record; null: none. */
  timings: Timings | null;
}

/** Each test's history is that of the shard that ran it; of a test that did not run, the longest one. */
function histories(runs: readonly TimedRun[]): ByTest<readonly number[]> {
  const tests = new ByTest<readonly number[]>();
  for (const { timings } of runs)
    for (const [key, history] of timings?.tests.entries() ?? [])
      if ((tests.get(key)?.length ?? 0) < history.length) tests.set(key, history);
  for (const { record, timings } of runs) {
    for (const [key] of ranTests(record)) {
      const history = timings?.tests.get(key);
      if (history) tests.set(key, history);
    }
  }
  return tests;
}

/** The measurements of a run without such a file. */
function onlyRecorded({ record, timings }: TimedRun): [TestKey, number][] {
  return timings ? [] : ranTests(record).filter(([, ms]) => ms > 0);
}

function ranTests({ partition }: RunRecord): [TestKey, number][] {
  const tests = [...ByTest.of(partition?.tests ?? {}).entries()];
  return tests.flatMap(([key, ms]): [TestKey, number][] => (ms === null ? [] : [[key, ms]]));
}

function timingsBeside(record: string): Timings | null {
  try {
    const parsed = parseTimings(readFileSync(join(dirname(record), 'timings.json'), 'utf8'));
    return 'timings' in parsed ? parsed.timings : null;
  } catch {
    return null; // some pipelines keep only the record
  }
}
