import type { RunRecord, SessionRecord } from '../../record/run-record.ts';
import { keyOf, waitWithin } from '../../record/session-record.ts';
import { grouped } from '../grouped.ts';

/** A try of a test, as a run's record has it. Times are ms since the epoch. */
export interface ObservedTry {
  id: string;
  title: string;
  file: string;
  line: number;
  project: string;
  slot: number;
  retry: number;
  start: number;
  end: number;
  /** Without the time that it waited for its browser, in ms. */
  ownMs: number;
  /** Whether Playwright replaced the worker after it. */
  failed: boolean;
}

/** A shard of a run, or a run without shards. */
export interface ObservedPart {
  /** In the order they began. */
  tries: ObservedTry[];
  /** The same by slot. */
  slots: ObservedTry[][];
  from: number;
  until: number;
  sessions: SessionRecord[];
}

/** What a record tells of the order and the times of its tests. A try that used several browsers is one. */
export function observe({ sessions, startedAt, endedAt }: RunRecord): ObservedPart {
  const tries = new Map<string, ObservedTry>();
  for (const session of sessions) {
    for (const test of session.tests) {
      const { id, title, file, line, project, retry, status, ok } = test;
      const [start, end] = [Date.parse(test.startedAt), Date.parse(test.endedAt)];
      const known = tries.get(keyOf(test));
      const waited = waitWithin(session, start, end);
      if (known) known.ownMs = Math.max(0, known.ownMs - waited);
      else {
        tries.set(keyOf(test), {
          id,
          title,
          file,
          line,
          project,
          slot: test.parallelIndex,
          retry,
          start,
          end: Math.max(start, end),
          ownMs: Math.max(0, end - start - waited),
          failed: !ok && status !== 'skipped',
        });
      }
    }
  }
  const ordered = [...tries.values()].sort((a, b) => a.start - b.start || a.retry - b.retry);
  const bySlot = grouped(ordered, ({ slot }) => slot);
  const from = Math.min(Date.parse(startedAt), ordered[0]?.start ?? Number.POSITIVE_INFINITY);
  const until = Math.max(
    Date.parse(endedAt ?? startedAt),
    ordered.reduce((latest, { end }) => Math.max(latest, end), 0),
  );
  const slots = [...bySlot].sort(([a], [b]) => a - b).map(([, own]) => own);
  return { tries: ordered, slots, from, until, sessions };
}
