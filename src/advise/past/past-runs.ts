import type { SkippedFile } from '../../record/read-records.ts';
import type { RunRecord, TestRecord } from '../../record/run-record.ts';
import { keyOf } from '../../record/session-record.ts';

/** A record, and what it is called in messages. */
export interface NamedRecord {
  file: string;
  record: RunRecord;
}

/** One whole run: the records of its shards in their order, or the one record of a run without. */
export interface PastRun {
  files: string[];
  parts: RunRecord[];
}

interface Part extends NamedRecord {
  total: number;
  current: number;
}

/** The whole runs among the records, the newest one last; a record that tells nothing of a whole run is named with the reason. */
export function pastRuns(given: readonly NamedRecord[]): { runs: PastRun[]; skipped: SkippedFile[] } {
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, string>();
  const parts: Part[] = [];
  for (const named of given) {
    const split = partsOf(named);
    const why = typeof split === 'string' ? split : (sameRun(split, seen) ?? flawOf(named.record));
    if (why !== null || typeof split === 'string') skipped.push({ file: named.file, why: why ?? '' });
    else parts.push(...split);
  }
  const runs: PastRun[] = [];
  for (const set of setsOf(parts)) {
    const [{ total } = { total: 1 }] = set;
    const files = [...new Set(set.map(({ file }) => file))];
    const missing = Array.from({ length: total }, (_, n) => n + 1).filter(
      (n) => !set.some((part) => part.current === n),
    );
    const tests = set.flatMap(({ record }) => record.sessions.flatMap((session) => session.tests));
    const why =
      missing.length > 0
        ? `shard ${missing.join(', ')} of ${total} of its run is not among the files`
        : tests.length === 0
          ? 'no test of it used a hosted browser'
          : null;
    if (why === null) runs.push({ files, parts: set.map(({ record }) => record) });
    else skipped.push(...files.map((file) => ({ file, why })));
  }
  const begin = ({ parts: of }: PastRun) => Math.min(...of.map(({ startedAt }) => Date.parse(startedAt)));
  return { runs: runs.sort((a, b) => begin(a) - begin(b)), skipped };
}

/** What tells nothing of how long a whole run takes; null: nothing is wrong with it. */
function flawOf({ endedAt, sessions }: RunRecord): string | null {
  if (endedAt === null) return 'the run was cut off: it has no end on record';
  const tests = sessions.flatMap((session) => session.tests);
  if (tests.some(({ status }) => status === 'interrupted')) return 'the run was interrupted: not all of its tests ran';
  // A project that others depend on runs in every shard.
  const isSharded = sessions.some(({ shard }) => shard !== null);
  return !isSharded && hasRepetitions(tests) ? 'it has the same tests more than once, as of a UI session' : null;
}

/** Whether a try began more than once; one that used two browsers is with each, and began once. */
function hasRepetitions(tests: readonly TestRecord[]): boolean {
  const begun = new Map(tests.map((test) => [keyOf(test), test.startedAt]));
  return tests.some((test) => begun.get(keyOf(test)) !== test.startedAt);
}

/** The shards in a record, or why it cannot be told apart. */
function partsOf({ file, record }: NamedRecord): Part[] | string {
  const { merged, sessions } = record;
  const [only] = merged;
  if (only && merged.length === 1) return [part(file, { ...record, ...only, merged: [] })];
  if (merged.length > 1) {
    const shards = merged.map(({ shard }) => `${shard?.current}/${shard?.total}`);
    const totals = new Set(merged.map(({ shard }) => shard?.total));
    if (new Set(shards).size < shards.length || totals.size > 1 || totals.has(undefined))
      return 'it was merged from several runs: name the run.json of each instead';
    return merged.map(({ shard, ...own }) =>
      part(file, { ...record, ...own, shard, merged: [], sessions: ofShard(sessions, shard) }),
    );
  }
  // From blobs: only its sessions know their shard, and only its tests their time.
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
  if (same !== undefined) return `it is of the same run as ${same}`;
  for (const [n, key] of keys.entries()) seen.set(key, parts[n]?.file ?? '');
  return null;
}

/** Shards that belong together: first those of one run ID; some CI systems give each shard an ID of its own. */
function setsOf(parts: readonly Part[]): Part[][] {
  const begun = parts.toSorted((a, b) => a.record.startedAt.localeCompare(b.record.startedAt));
  const byId = new Map<string, Part[]>();
  for (const [n, each] of begun.entries()) {
    const id = each.total === 1 ? `alone ${n}` : `${each.record.runId ?? n} ${each.total}`;
    const nth = begun.slice(0, n).filter((other) => sameId(other, each) && other.current === each.current).length;
    byId.set(`${id} ${nth}`, [...(byId.get(`${id} ${nth}`) ?? []), each]);
  }
  const sets: Part[][] = [];
  for (const group of byId.values()) {
    const fits = sets.find(
      (set) =>
        set[0]?.total === group[0]?.total && set.every((one) => group.every(({ current }) => current !== one.current)),
    );
    if (fits) fits.push(...group);
    else sets.push([...group]);
  }
  return sets.map((set) => set.sort((a, b) => a.current - b.current));
}

function sameId(a: Part, b: Part): boolean {
  return a.total === b.total && a.record.runId === b.record.runId;
}
