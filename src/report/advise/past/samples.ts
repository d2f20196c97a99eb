import { largest } from '../../../common/numbers/extremes.ts';
import type { SessionRecord } from '../../../record/run-record.ts';
import { median, sum } from '../statistics.ts';
import type { ObservedPart, ObservedTry } from './observed.ts';

/** If this share of sessions has one test each, every test had its own browser. */
const OWN_BROWSER_SHARE = 0.9;

/** Where a browser comes from. */
export type Source = SessionRecord['source'];

/** Times of a run outside its tests, in ms. */
export interface Samples {
  /** From the start of the run to a worker's first test, and from the end of the last test to the end of the run. */
  headMs: number;
  tailMs: number;
  /** Pauses of a worker slot: between tests of a file, between files, and until a replaced worker starts a test. */
  gaps: Record<Gap, number[]>;
  /**
   * How long workers waited for a browser: for the first, which is prefetched during their start, and for later ones.
   */
  waits: Record<Source, { first: number[]; later: number[] }>;
  /** Time from requesting a browser to receiving it. */
  starts: Record<Source, number[]>;
  /** Number of browsers by source. */
  sources: Record<Source, number>;
  /** How long a browser exists before its worker receives it. */
  prefetchMs: number;
  /** Who reuses a browser: also other workers, only tests of the same worker, or nothing. */
  reuse: 'run' | 'worker' | 'test';
}

/** Kinds of pauses between two tests of a worker slot. */
export type Gap = 'test' | 'group' | 'restart';

/** @param inSequence whether the tests of a file run in sequence in one worker */
export function samplesOf(parts: readonly ObservedPart[], inSequence: (one: ObservedTry) => boolean): Samples {
  const begun = parts.filter(({ tries }) => tries.length > 0);
  const gaps: Samples['gaps'] = { test: [], group: [], restart: [] };
  for (const { slots } of begun) for (const slot of slots) addGaps(slot, gaps, inSequence);
  const sessions = begun.flatMap((part) => part.sessions);
  const of = (source: Source) => sessions.filter((session) => session.source === source);
  const first = new Set(begun.flatMap(firstSessions));
  const waits = (some: SessionRecord[]) => some.flatMap(({ waitMs }) => waitMs ?? []);
  const waited = (source: Source) => ({
    first: waits(of(source).filter((session) => first.has(session))),
    later: waits(of(source).filter((session) => !first.has(session))),
  });
  const starts = (source: Source) => of(source).flatMap(({ startMs }) => startMs ?? []);
  return {
    headMs: mean(begun.map(({ from, slots }) => median(slots.map(([one]) => (one?.start ?? from) - from)))),
    tailMs: mean(begun.map(({ until, tries }) => until - largest(tries.map(({ end }) => end)))),
    gaps,
    waits: { pool: waited('pool'), session: waited('session') },
    starts: { pool: starts('pool'), session: starts('session') },
    sources: { pool: of('pool').length, session: of('session').length },
    prefetchMs: median([...first].flatMap(({ startedAt, lentAt }) => (lentAt === null ? [] : span(startedAt, lentAt)))),
    reuse: reuseOf(begun, sessions),
  };
}

function addGaps(slot: readonly ObservedTry[], gaps: Samples['gaps'], inSequence: (one: ObservedTry) => boolean): void {
  for (const [n, next] of slot.entries()) {
    const before = slot[n - 1];
    if (!before) continue;
    const ms = Math.max(0, next.start - before.end);
    if (before.failed || before.project !== next.project) gaps.restart.push(ms);
    else gaps[before.file === next.file && inSequence(next) ? 'test' : 'group'].push(ms);
  }
}

/** The first browser of each slot. */
function firstSessions({ sessions }: ObservedPart): SessionRecord[] {
  const first = new Map<number, SessionRecord>();
  for (const session of sessions) {
    const known = first.get(session.parallelIndex);
    if (!known || beginOf(session) < beginOf(known)) first.set(session.parallelIndex, session);
  }
  return [...first.values()];
}

function beginOf({ lentAt, startedAt }: SessionRecord): number {
  return Date.parse(lentAt ?? startedAt);
}

/**
 * Records do not contain `reuse`. Inferred: browsers have one test each, or no tests after their worker was replaced.
 */
function reuseOf(parts: readonly ObservedPart[], sessions: readonly SessionRecord[]): Samples['reuse'] {
  const used = sessions.filter(({ tests }) => tests.length > 0);
  const tests = sum(used.map((session) => session.tests.length));
  const alone = used.filter((session) => session.tests.length === 1).length;
  const slots = sum(parts.map((part) => part.slots.length));
  if (tests > slots && alone >= OWN_BROWSER_SHARE * used.length && alone >= OWN_BROWSER_SHARE * tests) return 'test';
  const afterFailure = used.flatMap((session) => {
    const failed = session.tests.filter(
      ({ ok, status, infrastructureFailure }) => !ok && status !== 'skipped' && !infrastructureFailure,
    );
    return failed.map(({ endedAt }) => session.tests.some(({ startedAt }) => startedAt >= endedAt));
  });
  const ended = used.some(({ endReason }) => endReason === 'finished');
  return afterFailure.length > 0 && ended && !afterFailure.includes(true) ? 'worker' : 'run';
}

function mean(values: readonly number[]): number {
  return values.length > 0 ? sum(values) / values.length : 0;
}

function span(from: string, to: string): number[] {
  return [Math.max(0, Date.parse(to) - Date.parse(from))];
}
