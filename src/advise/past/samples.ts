import { largest } from '../../common/numbers/extremes.ts';
import type { SessionRecord } from '../../record/run-record.ts';
import { median, sum } from '../statistics.ts';
import type { ObservedPart, ObservedTry } from './observed.ts';

/** From this share of sessions with one test each, each test had a browser of its own. */
const OWN_BROWSER_SHARE = 0.9;

/** Where a browser comes from. */
export type Source = SessionRecord['source'];

/** What a run's record tells of the time that is not its tests' own. All in ms. */
export interface Samples {
  /** From the run's start to the first test of a worker, and from the last test's end to the run's. */
  headMs: number;
  tailMs: number;
  /** On a worker, between two tests of a file, between two files, and until the worker that replaces another one has its test. */
  gaps: Record<Gap, number[]>;
  /** What workers waited for a browser: their first, which is fetched while they start, and later ones. */
  waits: Record<Source, { first: number[]; later: number[] }>;
  /** From asking for a browser to having it. */
  starts: Record<Source, number[]>;
  /** How many browsers of each kind the run had. */
  sources: Record<Source, number>;
  /** How long a browser is there before its worker has it. */
  aheadMs: number;
  /** Who else may use a browser: the next worker, nobody, not even the next test. */
  reuse: 'run' | 'worker' | 'test';
}

/** What lies between two tests of a worker slot. */
export type Gap = 'test' | 'group' | 'restart';

/** @param inOneGo whether the tests of a file run one after the other in one worker */
export function samplesOf(parts: readonly ObservedPart[], inOneGo: (one: ObservedTry) => boolean): Samples {
  const begun = parts.filter(({ tries }) => tries.length > 0);
  const gaps: Samples['gaps'] = { test: [], group: [], restart: [] };
  for (const { slots } of begun) for (const slot of slots) addGaps(slot, gaps, inOneGo);
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
    aheadMs: median([...first].flatMap(({ startedAt, lentAt }) => (lentAt === null ? [] : span(startedAt, lentAt)))),
    reuse: reuseOf(begun, sessions),
  };
}

function addGaps(slot: readonly ObservedTry[], gaps: Samples['gaps'], inOneGo: (one: ObservedTry) => boolean): void {
  for (const [n, next] of slot.entries()) {
    const before = slot[n - 1];
    if (!before) continue;
    const ms = Math.max(0, next.start - before.end);
    if (before.failed || before.project !== next.project) gaps.restart.push(ms);
    else gaps[before.file === next.file && inOneGo(next) ? 'test' : 'group'].push(ms);
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

/** `reuse` is not on record, but shows: a browser serves one test, or no test after its worker was replaced. */
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
