import type { TimelineData, TimelineSession, TimelineTest } from '../data.ts';

/** The selected data; null: all. */
export interface Filter {
  project: number | null;
  shard: number | null;
  /** Only tests with an unexpected result, and their sessions. */
  failuresOnly: boolean;
}

/** A session and its shown tests, in order of start. */
export interface ShownSession {
  session: TimelineSession;
  tests: TimelineTest[];
  /** Overlapping sessions of one slot are in different rows. */
  row: number;
}

/** A slot of a shard. */
export interface Lane {
  shard: number;
  slot: number;
  rows: number;
  sessions: ShownSession[];
}

/** The selected lanes, sorted by shard and slot. */
export function lanesOf(data: TimelineData, filter: Filter): Lane[] {
  const testsOf = data.sessions.map((): TimelineTest[] => []);
  for (const test of data.tests) if (showsTest(test, filter)) testsOf[test[0]]?.push(test);
  const lanes = new Map<string, Lane>();
  for (const [n, session] of data.sessions.entries()) {
    const tests = testsOf[n] ?? [];
    if (!showsSession(session, tests, filter)) continue;
    const key = `${session.shard} ${session.slot}`;
    const lane = lanes.get(key) ?? { shard: session.shard, slot: session.slot, rows: 1, sessions: [] };
    lanes.set(key, lane);
    lane.sessions.push({ session, tests: tests.sort((a, b) => a[1] - b[1]), row: 0 });
  }
  for (const lane of lanes.values()) layOut(lane);
  const shardName = (lane: Lane) => data.shards[lane.shard] ?? '';
  return [...lanes.values()].sort(
    (a, b) => shardName(a).localeCompare(shardName(b), 'en', { numeric: true }) || a.slot - b.slot,
  );
}

/** When a session first appears: when it was requested, or when its worker began to wait. */
export function beginOf({ asked, had, lent, waitMs }: TimelineSession): number {
  return Math.min(had, asked ?? had, lent === null ? had : lent - (waitMs ?? 0));
}

function showsTest([, , , , ok, , project, , , , , , lost]: TimelineTest, filter: Filter): boolean {
  return (filter.project === null || filter.project === project) && (!filter.failuresOnly || ok === 0 || lost !== null);
}

function showsSession(session: TimelineSession, tests: TimelineTest[], filter: Filter): boolean {
  if (filter.shard !== null && filter.shard !== session.shard) return false;
  if (tests.length > 0) return true;
  return !filter.failuresOnly && (filter.project === null || filter.project === session.project);
}

function layOut(lane: Lane): void {
  lane.sessions.sort((a, b) => beginOf(a.session) - beginOf(b.session));
  const ends: number[] = [];
  for (const shown of lane.sessions) {
    const free = ends.findIndex((end) => end <= beginOf(shown.session));
    shown.row = free >= 0 ? free : ends.length;
    ends[shown.row] = shown.session.ended;
  }
  lane.rows = ends.length;
}
