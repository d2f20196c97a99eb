import { largest, smallestKnown } from '../../common/numbers/extremes.ts';
import { services } from '../enums.ts';
import type { RunRecord, RunWork, SessionRecord } from '../run-record.ts';

/**
 * Merges the records of several runs, such as shards, into one. A merged record counts as the runs it was made from.
 */
export function mergeRecords(records: RunRecord[]): RunRecord {
  const parts = records.flatMap((record) => {
    const { runId, shard, startedAt, endedAt, merged } = record;
    return merged.length > 0 ? merged : [{ runId, shard, startedAt, endedAt }];
  });
  const ends = records.flatMap(({ endedAt }) => endedAt ?? []).sort();
  return {
    schema: 1,
    runId: commonValue(parts.map(({ runId }) => runId)),
    runner: commonValue(records.map(({ runner }) => runner)),
    service: serviceOf(records),
    chromiums: [...new Set(records.flatMap(({ chromiums }) => chromiums))],
    shard: null,
    browsers: smallestKnown(records.map(({ browsers }) => browsers)),
    startedAt: records.map(({ startedAt }) => startedAt).sort()[0] ?? '',
    endedAt: ends.length === records.length ? (ends.at(-1) ?? null) : null,
    sessions: records.flatMap((record) => record.sessions.map((session) => ofShard(session, record))),
    leaseFailures: records.flatMap(({ leaseFailures }) => leaseFailures),
    failures: records.flatMap(({ failures }) => failures),
    balance: balanceOf(records),
    partition: null,
    work: joinedWork(records.map(({ work }) => work)),
    merged: parts,
  };
}

/** The common value; null if they differ. */
function commonValue<T>(values: readonly T[]): T | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

function ofShard(session: SessionRecord, { shard }: RunRecord): SessionRecord {
  return { ...session, shard: session.shard ?? shard };
}

function serviceOf(records: RunRecord[]): RunRecord['service'] {
  return services.find((name) => records.some(({ service }) => service === name)) ?? null;
}

/** Unknown if that of one run is. What shards repeat counts once, with the longest time. */
function joinedWork(given: readonly RunRecord['work'][]): RunRecord['work'] {
  const parts = given.flatMap((work) => work ?? []);
  if (parts.length < given.length) return null;
  const needs = new Map<string, RunWork['needs'][number]>();
  for (const need of parts.flatMap((part) => part.needs).sort((a, b) => a.ms - b.ms))
    needs.set(JSON.stringify([need.project, need.needed]), need);
  const workers = parts.map((part) => part.workers);
  return {
    workers: largest(workers, 1),
    projectWorkers: Object.fromEntries(parts.flatMap(({ projectWorkers }) => Object.entries(projectWorkers))),
    pieces: parts.flatMap(({ pieces }) => pieces),
    needs: [...needs.values()],
  };
}

/**
 * Runs of one workspace share its balance, so the range is from before the first to after the last run. Each embedded
 * emulator has its own balance.
 */
function balanceOf(records: RunRecord[]): RunRecord['balance'] {
  const known = records.flatMap(({ balance, startedAt, endedAt }) =>
    balance && endedAt !== null ? [{ ...balance, startedAt, endedAt }] : [],
  );
  if (known.length < records.length) return null;
  if (records.every(({ service }) => service === 'emulator')) {
    const total = (cents: number[]) => cents.reduce((sum, each) => sum + each, 0);
    return {
      startCents: total(known.map(({ startCents }) => startCents)),
      endCents: total(known.map(({ endCents }) => endCents)),
    };
  }
  const first = known.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))[0];
  const last = known.toSorted((a, b) => a.endedAt.localeCompare(b.endedAt)).at(-1);
  return first && last ? { startCents: first.startCents, endCents: last.endCents } : null;
}
