import { largest } from '../../common/numbers/extremes.ts';
import type { RunRecord, RunWork } from '../../record/run-record.ts';
import { duration } from '../summary/format.ts';
import { expectedMs, type PartitionOptions, partition, type Repeated, workersWithBrowser } from './partition.ts';
import { inserted } from './test-tree.ts';

/** How many shards and browsers a table has at most. */
const SHARDS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16];
const BROWSERS = [1, 2, 4, 8];

/** The columns of a row: shards, then what that many browsers of each take. */
export type ShardRow = Record<string, string | number>;

/**
 * How long the tests of a run would take in so many shards with so many browsers each, without the start of a machine:
 * `4 min 10 s (16.7)`, the second in minutes of all browsers; `–`: there are fewer. Empty: the record has no work.
 */
export function howManyShards({ work, browsers: most }: Pick<RunRecord, 'work' | 'browsers'>): ShardRow[] {
  if (!work) return [];
  return SHARDS.filter((shards) => shards <= work.pieces.length).map((shards) => {
    const row: ShardRow = { shards };
    for (const browsers of BROWSERS) {
      row[columnOf(browsers)] = '–';
      if (most !== null && shards * browsers > most) continue;
      const ends = endsOf(work, shards, browsers);
      const browserMs = ends.reduce((sum, end) => sum + end.ms * end.browsers, 0);
      row[columnOf(browsers)] = `${duration(longestOf(ends))} (${(browserMs / 60_000).toFixed(1)})`;
    }
    return row;
  });
}

/** The columns of all rows, in their order. */
export const SHARD_COLUMNS: readonly string[] = ['shards', ...BROWSERS.map(columnOf)];

function columnOf(browsers: number): string {
  return browsers === 1 ? '1 browser each' : `${browsers} browsers each`;
}

/** When a shard would end, in ms, and how many browsers it can use. */
export interface ShardEnd {
  ms: number;
  browsers: number;
}

/** When the last shard would end, in ms. */
function longestOf(ends: readonly ShardEnd[]): number {
  return largest(
    ends.map(({ ms }) => ms),
    0,
  );
}

/** How long the longest of so many balanced shards would take, in ms. Null: unknown, or more shards than pieces. */
export function balancedMs({ work, browsers }: Pick<RunRecord, 'work' | 'browsers'>, shards: number): number | null {
  if (!work || shards > work.pieces.length) return null;
  return longestOf(endsOf(work, shards, workersWithBrowser(work.workers, browsers, shards)));
}

/** When each of so many balanced shards would end. */
export function endsOf(work: RunWork, shards: number, workers: number): ShardEnd[] {
  const { pieces, projectWorkers } = work;
  const options: PartitionOptions = { shards, workers, projectWorkers, needs: needsOf(work) };
  const assigned = partition(pieces, options);
  return Array.from({ length: shards }, (_, n) => {
    const shardPieces = pieces.filter((_piece, at) => assigned[at] === n);
    return { ms: expectedMs(shardPieces, options), browsers: Math.min(workers, shardPieces.length) };
  });
}

/** By project. */
function needsOf({ needs }: RunWork): Map<string, Repeated[]> {
  const byProject = new Map<string, Repeated[]>();
  for (const { project, needed, ms } of needs)
    inserted(byProject, project, (): Repeated[] => []).push({ name: needed, ms });
  return byProject;
}
