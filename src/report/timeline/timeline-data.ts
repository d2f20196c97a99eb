import { largest } from '../../common/numbers/extremes.ts';
import { printable } from '../../printable.ts';
import { testStatuses } from '../../record/enums.ts';
import { movedBytes, type RunWithFigures, type TestTry } from '../../record/figures.ts';
import type { SessionRecord, TestRecord } from '../../record/run-record.ts';
import { figureRows } from '../summary/figure-rows.ts';
import { bytes, duration } from '../summary/format.ts';
import type { TimelineData, TimelineNamed, TimelineSession, TimelineTest } from './data.ts';

/**
 * The data of the timeline page.
 * @param report address of the HTML report relative to the page
 */
export function timelineData(run: RunWithFigures, report: string | null): TimelineData {
  const { record, figures } = run;
  const times = record.sessions.flatMap(timesOf).sort((a, b) => a - b);
  const from = times[0] ?? Date.parse(record.startedAt);
  const until = times.at(-1) ?? from;
  const [projects, shards, files] = [new NameIndex(), new NameIndex(), new NameIndex()];
  const sessions = record.sessions.map((session) => sessionData(session, from, projects, shards));
  const tests = record.sessions.flatMap((session, n) =>
    session.tests.map((test): TimelineTest => {
      // The evidence of merged records is not beside the page.
      const evidence = record.merged.length > 0 ? null : evidenceAddress(test);
      return [...testData(test, n, from, projects, files), evidence];
    }),
  );
  const named = (tries: TestTry[], value: (one: TestTry) => string): TimelineNamed[] =>
    tries.map((one) => ({
      test: tests.findIndex(([, , , , , retry, , , , , id]) => id === one.id && retry === one.retry),
      value: value(one),
    }));
  return {
    from,
    length: Math.max(1, until - from),
    runIds: [
      ...new Set((record.merged.length > 0 ? record.merged : [record]).map(({ runId }) => printable(runId ?? ''))),
    ],
    service: record.service,
    projects: projects.names,
    shards: shards.names,
    files: files.names,
    statuses: [...testStatuses],
    sessions,
    tests,
    figures: figureRows(run),
    slowest: named(figures.slowest, ({ durationMs }) => duration(durationMs)),
    heaviest: named(figures.heaviest, (one) => bytes(movedBytes(one))),
    problems: [
      ...figures.lost.map((text) => `browser lost: ${text}`),
      ...figures.leaseFailures.map((text) => `no browser: ${text}`),
      ...figures.unconfirmed.map((id) => `not confirmed ended: session ${id}`),
    ].map(printable),
    report,
  };
}

/** A list of unique names, with the index of each. */
class NameIndex {
  readonly names: string[] = [];
  readonly #indexes = new Map<string, number>();

  of(given: string): number {
    const name = printable(given);
    const index = this.#indexes.get(name) ?? this.names.push(name) - 1;
    this.#indexes.set(name, index);
    return index;
  }
}

function timesOf(session: SessionRecord): number[] {
  const { requestedAt, startedAt, lentAt, waitMs, endedAt, tests } = session;
  const times = [requestedAt, startedAt, endedAt, ...tests.flatMap((test) => [test.startedAt, test.endedAt])];
  const waitBegan = lentAt === null ? [] : [Date.parse(lentAt) - (waitMs ?? 0)];
  return [...times.flatMap((time) => (time === null ? [] : Date.parse(time))), ...waitBegan];
}

function sessionData(session: SessionRecord, from: number, projects: NameIndex, shards: NameIndex): TimelineSession {
  const since = (time: string | null) => (time === null ? null : Date.parse(time) - from);
  // If its end is unknown, a session ends with its last test.
  const seen =
    largest(
      session.tests.map((test) => Date.parse(test.endedAt)),
      Date.parse(session.startedAt),
    ) - from;
  return {
    id: printable(session.sessionId),
    lease: shown(session.leaseId),
    pool: shown(session.poolId),
    servedBy: shown(session.servedBy),
    type: shown(session.type),
    project: projects.of(session.project),
    shard: shards.of(session.shard ? `${session.shard.current}/${session.shard.total}` : ''),
    slot: session.parallelIndex,
    asked: since(session.requestedAt),
    had: since(session.startedAt) ?? 0,
    lent: since(session.lentAt),
    waitMs: session.waitMs,
    ending: since(session.endingAt),
    ended: since(session.endedAt) ?? seen,
    reason: session.endReason ?? 'running',
    confirmed: session.endConfirmed,
    workers: session.workersServed,
    observed: session.observedBytes,
    proxied: session.bridgedBytes,
    service: session.bandwidthBytes,
    failures: session.infrastructureFailures.map(printable),
  };
}

function shown(text: string | null): string | null {
  return text === null ? null : printable(text);
}

/** How long a test was on hold, and for which reason. */
function held({ holds }: TestRecord): string | null {
  const texts = holds.map(({ startedAt, endedAt, reason }) => {
    const ms = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
    return `${duration(ms)}: ${printable(reason)}`;
  });
  return texts.length > 0 ? texts.join('; ') : null;
}

/** Its directory is in the record's directory, as is the page. */
function evidenceAddress({ evidence }: TestRecord): string | null {
  const name = evidence?.split('/').at(-1);
  // Encoded from bytes: a hostile record's name may contain half a character, which encodeURIComponent() refuses.
  return name ? `evidence/${encodeURIComponent(Buffer.from(name).toString())}/` : null;
}

type DropLast<T extends unknown[]> = T extends [...infer Others, unknown] ? Others : never;

function testData(
  test: TestRecord,
  session: number,
  from: number,
  projects: NameIndex,
  files: NameIndex,
): DropLast<TimelineTest> {
  const started = Date.parse(test.startedAt);
  return [
    session,
    started - from,
    Math.max(0, Date.parse(test.endedAt) - started),
    testStatuses.indexOf(test.status),
    test.ok ? 1 : 0,
    test.retry,
    projects.of(test.project),
    files.of(test.file),
    test.line,
    printable(test.title),
    test.id, // for links, never shown
    test.observedBytes,
    shown(test.infrastructureFailure),
    held(test),
    test.proxiedBytes,
    test.proxiedSentBytes,
  ];
}
