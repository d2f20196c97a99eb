import type { RunRecord, SessionRecord } from '../../../record/run-record.ts';
import { waitWithin } from '../../../record/session-record.ts';
import { keyOf } from '../../../record/test-record.ts';
import { grouped } from '../grouped.ts';

/** A recorded try of a test. Times are ms since the epoch. */
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
  /** Whether it failed, so that Playwright replaced the worker after it. */
  failed: boolean;
}

/** A shard of a run, or a run without shards. */
export interface ObservedPart {
  /** In order of start. */
  tries: ObservedTry[];
  /** The same tries by slot. */
  slots: ObservedTry[][];
  from: number;
  until: number;
  sessions: SessionRecord[];
}

/** Reads order and times of the tests from a record. A try that used several browsers counts once. */
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
