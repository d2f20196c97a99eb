import { largest, smallest } from '../../../common/numbers/extremes.ts';
import { grouped } from '../grouped.ts';
import { median } from '../statistics.ts';
import type { ObservedPart, ObservedTry } from './observed.ts';

/** Infers from a record how Playwright scheduled a run, because records do not contain this. */

/** How long a slot must be idle to prove that it waited, in ms, in addition to twice the start time of a worker. */
const IDLE_EVIDENCE_MS = 500;

/** Key of a file in a project. Playwright gives it to one worker, unless its tests run in parallel. */
export function fileKey({ project, file }: Pick<ObservedTry, 'project' | 'file'>): string {
  return JSON.stringify([project, file]);
}

/** How the tests of a file run. `unknown`: the file has one test, or there was one worker. */
export type FileMode = 'parallel' | 'sequential' | 'unknown';

/** How the tests of each file ran: in parallel if two of them overlap. @returns by {@link fileKey} */
export function fileModes(parts: readonly ObservedPart[]): Map<string, FileMode> {
  const modes = new Map<string, FileMode>();
  for (const { tries, slots } of parts) {
    const firstTries = tries.filter(({ retry }) => retry === 0);
    for (const [key, own] of grouped(firstTries, fileKey)) {
      if (modes.get(key) === 'parallel') continue;
      const mode = overlap(own) ? 'parallel' : own.length > 1 && slots.length > 1 ? 'sequential' : 'unknown';
      modes.set(key, mode === 'unknown' ? (modes.get(key) ?? mode) : mode);
    }
  }
  return modes;
}

/** @param tries in order of start */
function overlap(tries: readonly ObservedTry[]): boolean {
  let end = Number.NEGATIVE_INFINITY;
  for (const one of tries) {
    if (one.start < end) return true;
    end = one.end;
  }
  return false;
}

/**
 * The tests in the order of Playwright's queue: each free worker takes the next one. The first tests of all workers
 * begin at nearly the same time, so they are sorted by slot. @returns IDs of tests
 */
export function queueOrder(parts: readonly ObservedPart[]): string[] {
  const order = new Set<string>();
  for (const { tries, slots } of parts) {
    const first = new Map(slots.flatMap(([one], n) => (one ? [[one, n]] : [])));
    const slotOf = (one: ObservedTry) => first.get(one) ?? Number.POSITIVE_INFINITY;
    for (const one of tries.toSorted((a, b) => slotOf(a) - slotOf(b) || a.start - b.start)) order.add(one.id);
  }
  return [...order];
}

/**
 * Finds projects that Playwright ran in sequence because of a dependency: all tests of one project ended before the
 * first of the other began, while a slot was idle. @returns the phase of each project, from 0
 */
export function phasesOf(projects: readonly string[], parts: readonly ObservedPart[]): number[] {
  const seen = parts.filter(({ slots }) => slots.length > 1);
  const after = (later: string, earlier: string) => {
    const both = seen.filter(({ tries }) =>
      [later, earlier].every((name) => tries.some(({ project }) => project === name)),
    );
    return both.length > 0 && both.every((part) => waitedFor(part, later, earlier));
  };
  const before = projects.map((later) => projects.filter((earlier) => earlier !== later && after(later, earlier)));
  const phases = new Map<string, number>();
  const phaseOf = (name: string): number => {
    const known = phases.get(name);
    if (known !== undefined) return known;
    phases.set(name, 0); // prevents endless recursion when runs contradict each other
    const phase = largest((before[projects.indexOf(name)] ?? []).map(phaseOf), -1) + 1;
    phases.set(name, phase);
    return phase;
  };
  return projects.map(phaseOf);
}

function waitedFor({ tries, slots, from }: ObservedPart, later: string, earlier: string): boolean {
  const ends = tries.filter(({ project }) => project === earlier).map(({ end }) => end);
  const starts = tries.filter(({ project }) => project === later).map(({ start }) => start);
  const begin = smallest(starts);
  if (largest(ends) > begin) return false;
  const restarts = slots.flatMap((slot) =>
    slot.flatMap((one, n) => (slot[n - 1]?.failed ? [one.start - (slot[n - 1]?.end ?? 0)] : [])),
  );
  const first = tries[0]?.start ?? begin;
  const startMs = restarts.length > 0 ? median(restarts) : first - from;
  const idle = slots.map(
    (slot) =>
      begin -
      largest(
        slot.filter(({ end }) => end <= begin).map(({ end }) => end),
        first,
      ),
  );
  return largest(idle) > 2 * startMs + IDLE_EVIDENCE_MS;
}

/** Projects whose tests shared browsers get the same number, because each can use the browsers of the other. */
export function browserKinds(projects: readonly string[], parts: readonly ObservedPart[]): number[] {
  const kinds = projects.map((_, n) => n);
  for (const session of parts.flatMap(({ sessions }) => sessions)) {
    const together = new Set(session.tests.map(({ project }) => kinds[projects.indexOf(project)]));
    const [least] = [...together].flatMap((kind) => kind ?? []).sort((a, b) => a - b);
    if (least === undefined || together.size < 2) continue;
    for (const [n, kind] of kinds.entries()) if (together.has(kind)) kinds[n] = least;
  }
  return kinds;
}
