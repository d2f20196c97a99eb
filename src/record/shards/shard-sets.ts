import type { RunRecord } from '../run-record.ts';

/** How many missing shards are listed. */
const LISTED = 20;

/** A shard of a run. A run without shards is 1 of 1. */
export interface ShardPart {
  record: Pick<RunRecord, 'runId' | 'startedAt'>;
  total: number;
  current: number;
}

/**
 * Groups shards of the same run: first by run ID, then by number, because some CI systems give each shard its own ID.
 */
export function shardSets<P extends ShardPart>(parts: readonly P[]): P[][] {
  const begun = parts.toSorted((a, b) => a.record.startedAt.localeCompare(b.record.startedAt));
  const byId = new Map<string, P[]>();
  const seen = new Map<string, number>();
  for (const [n, each] of begun.entries()) {
    const id = each.total === 1 ? `alone ${n}` : `${each.record.runId ?? n} ${each.total}`;
    const shard = JSON.stringify([each.record.runId, each.total, each.current]);
    const nth = seen.get(shard) ?? 0;
    seen.set(shard, nth + 1);
    const known = byId.get(`${id} ${nth}`);
    if (known) known.push(each);
    else byId.set(`${id} ${nth}`, [each]);
  }
  const sets: P[][] = [];
  for (const group of byId.values()) {
    const fits = sets.find(
      (set) =>
        set[0]?.total === group[0]?.total && set.every((one) => group.every(({ current }) => current !== one.current)),
    );
    if (fits) for (const each of group) fits.push(each);
    else sets.push([...group]);
  }
  return sets.map((set) => set.sort((a, b) => a.current - b.current));
}

/** `shard 2, 5 of 8`: the missing shards of a set from {@link shardSets}; null if complete. */
export function missingShards(set: readonly ShardPart[]): string | null {
  const total = set[0]?.total ?? 1;
  const there = new Set(set.map(({ current }) => current));
  const missing = Array.from({ length: total }, (_, n) => n + 1).filter((n) => !there.has(n));
  if (missing.length === 0) return null;
  const others = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
  return `shard ${missing.slice(0, LISTED).join(', ')}${others} of ${total}`;
}

/** The shards that are missing from records to be merged, one text for each incomplete run. */
export function missingAmong(records: readonly RunRecord[]): string[] {
  const parts = records.flatMap(({ merged, ...record }) =>
    (merged.length > 0 ? merged : [record]).map(
      ({ runId, startedAt, shard }): ShardPart => ({
        record: { runId, startedAt },
        total: shard?.total ?? 1,
        current: shard?.current ?? 1,
      }),
    ),
  );
  return shardSets(parts).flatMap((set) => missingShards(set) ?? []);
}
