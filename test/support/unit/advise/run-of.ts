import type { RunRecord, SessionRecord, TestRecord } from '../../../../src/record/run-record.ts';
import { aRecord, aSession, aTest, at } from '../records.ts';

/** `slot`, `project/file › title`, `from`, `until` (seconds since the run began), and more fields of its record. */
export type SeenTest = [slot: number, name: string, from: number, until: number, more?: Partial<TestRecord>];

/**
 * Returns a run's record with one browser per slot and project, which exists from the beginning unless `session`
 * differs.
 */
export function runOf(
  tests: readonly SeenTest[],
  record: Partial<RunRecord> = {},
  session: (slot: number, project: string) => Partial<SessionRecord> = () => ({}),
): RunRecord {
  const bySession = new Map<string, TestRecord[]>();
  for (const [slot, name, from, until, more] of tests) {
    const [, project = '', file = '', title = ''] = /^(.*?)\/(.*?) › (.*)$/.exec(name) ?? [];
    const made = aTest({
      id: `${project} ${file} ${title}`,
      title,
      file,
      line: Number(/\d+/.exec(title)?.[0] ?? 1),
      project,
      parallelIndex: slot,
      startedAt: at(from),
      endedAt: at(until),
      ...more,
    });
    const key = `${slot} ${project}`;
    bySession.set(key, [...(bySession.get(key) ?? []), made]);
  }
  const last = Math.max(0, ...tests.map(([, , , until]) => until));
  const sessions = [...bySession].map(([key, own]) => {
    const [slot = '0', project = ''] = key.split(' ');
    return aSession({
      sessionId: `session ${key}`,
      parallelIndex: Number(slot),
      project,
      requestedAt: at(0),
      startedAt: at(0),
      lentAt: at(0),
      startMs: 0,
      waitMs: 0,
      endingAt: at(last),
      endedAt: at(last),
      endReason: 'run-ended',
      tests: own,
      ...session(Number(slot), project),
    });
  });
  return aRecord({ endedAt: at(last), sessions, ...record });
}
