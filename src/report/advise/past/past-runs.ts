import { smallest } from '../../../common/numbers/extremes.ts';
import type { SkippedFile } from '../../../record/read-records.ts';
import type { RunRecord, TestRecord } from '../../../record/run-record.ts';
import { missingShards, type ShardPart, shardSets } from '../../../record/shards/shard-sets.ts';
import { keyOf } from '../../../record/test-record.ts';

/** A record, and its file name for messages. */
export interface NamedRecord {
  file: string;
  record: RunRecord;
}

/** A complete run: the records of its shards in order, or the record of a run without shards. */
export interface PastRun {
  files: string[];
  parts: RunRecord[];
}

type Part = NamedRecord & ShardPart;

/** Finds the complete runs among the records, the newest last. Skips the other records, with a reason for each. */
export function pastRuns(given: readonly NamedRecord[]): { runs: PastRun[]; skipped: SkippedFile[] } {
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, string>();
  const parts = given.flatMap((named) => {
    const split = partsOf(named);
    const why = typeof split === 'string' ? split : (sameRun(split, seen) ?? whyUnusable(named.record));
    if (why === null && typeof split !== 'string') return split;
    skipped.push({ file: named.file, why: why ?? '' });
    return [];
  });
  const runs: PastRun[] = [];
  for (const set of shardSets(parts)) {
    const files = [...new Set(set.map(({ file }) => file))];
    const why = whyIncomplete(set);
    if (why === null) runs.push({ files, parts: set.map(({ record }) => record) });
    else for (const file of files) skipped.push({ file, why });
  }
  const begin = ({ parts: of }: PastRun) => smallest(of.map(({ startedAt }) => Date.parse(startedAt)));
  return { runs: runs.sort((a, b) => begin(a) - begin(b)), skipped };
}

/** Why a set of shards is not a complete run; null if it is one. */
function whyIncomplete(set: readonly Part[]): string | null {
  const missing = missingShards(set);
  if (missing !== null) return `${missing} of its run is missing`;
  const hasTests = set.some(({ record }) => record.sessions.some(({ tests }) => tests.length > 0));
  return hasTests ? null : 'none of its tests used a hosted browser';
}

/** Why a record cannot show how long a run takes; null if it can. */
function whyUnusable({ endedAt, sessions }: RunRecord): string | null {
  if (endedAt === null) return 'its end is not recorded: the run crashed or is still running';
  const tests = sessions.flatMap((session) => session.tests);
  if (tests.some(({ status }) => status === 'interrupted'))
    return 'the run was interrupted, so not all of its tests ran';
  // A project that others depend on runs in every shard.
  const isSharded = sessions.some(({ shard }) => shard !== null);
  return !isSharded && hasRepetitions(tests)
    ? 'it contains the same tests more than once, like a UI mode session'
    : null;
}

/** Whether a try began more than once. One that used two browsers is listed with both, but began once. */
function hasRepetitions(tests: readonly TestRecord[]): boolean {
  const begun = new Map(tests.map((test) => [keyOf(test), test.startedAt]));
  return tests.some((test) => begun.get(keyOf(test)) !== test.startedAt);
}

/** Splits a record into its shards, or returns why that is not possible. */
function partsOf({ file, record }: NamedRecord): Part[] | string {
  const { merged, sessions } = record;
  const [only] = merged;
  if (only && merged.length === 1) return [part(file, { ...record, ...only, merged: [] })];
  if (merged.length > 1) {
    const shards = merged.map(({ shard }) => `${shard?.current}/${shard?.total}`);
    const totals = new Set(merged.map(({ shard }) => shard?.total));
    if (new Set(shards).size < shards.length || totals.size > 1 || totals.has(undefined))
      return 'it was merged from several runs: pass the run.json of each run instead';
    return merged.map(({ shard, ...own }) =>
      part(file, { ...record, ...own, shard, merged: [], sessions: ofShard(sessions, shard) }),
    );
  }
  // Merged from blobs: only the sessions have a shard, and only the tests have times.
  const shards = new Map(sessions.flatMap(({ shard }) => (shard ? [[shard.current, shard]] : [])));
  if (record.shard === null && shards.size > 0) {
    return [...shards.values()].map((shard) => {
      const own = ofShard(sessions, shard);
      const tests = own.flatMap((session) => session.tests);
      const startedAt = tests.map((test) => test.startedAt).sort()[0] ?? record.startedAt;
      const endedAt =
        tests
          .map((test) => test.endedAt)
          .sort()
          .at(-1) ?? record.endedAt;
      return part(file, { ...record, startedAt, endedAt, shard, sessions: own });
    });
  }
  return [part(file, record)];
}

function part(file: string, record: RunRecord): Part {
  return { file, record, total: record.shard?.total ?? 1, current: record.shard?.current ?? 1 };
}

function ofShard(sessions: RunRecord['sessions'], shard: RunRecord['shard']): RunRecord['sessions'] {
  return sessions.filter((session) => session.shard?.current === shard?.current);
}

function sameRun(parts: readonly Part[], seen: Map<string, string>): string | null {
  const keys = parts.map(({ record: { runId, shard, startedAt } }) => JSON.stringify([runId, shard, startedAt]));
  const same = keys.map((key) => seen.get(key)).find((file) => file !== undefined);
  if (same !== undefined) return `it is from the same run as ${same}`;
  for (const [n, key] of keys.entries()) seen.set(key, parts[n]?.file ?? '');
  return null;
}
