import { largest } from '../common/numbers/extremes.ts';
import type { HostedBrowserAttachment } from './attachment.ts';
import type { SessionRecord, TestRecord } from './run-record.ts';

/** Totals over the tests of a session. */
export type SessionTotals = Pick<SessionRecord, 'testsServed' | 'observedBytes' | 'savedMs' | 'infrastructureFailures'>;

export type SessionFacts = Omit<SessionRecord, keyof SessionTotals>;

/** Adds the totals to a session. This is the only place that computes them. */
export function withTotals({ tests, ...facts }: SessionFacts): SessionRecord {
  return {
    ...facts,
    testsServed: tests.length,
    observedBytes: tests.reduce((sum, { observedBytes }) => sum + (observedBytes ?? 0), 0),
    savedMs: tests.reduce((sum, { savedMs }) => sum + savedMs, 0),
    infrastructureFailures: tests.flatMap(({ infrastructureFailure }) => infrastructureFailure ?? []),
    tests,
  };
}

/**
 * How long a worker waited for this browser between two times (ms since the epoch), in ms. Runners include that wait in
 * the duration of the running test.
 */
export function waitWithin({ lentAt, waitMs }: SessionRecord, start: number, end: number): number {
  if (lentAt === null || waitMs === null) return 0;
  const lent = Date.parse(lentAt);
  return Math.max(0, Math.min(end, lent) - Math.max(start, lent - waitMs));
}

export interface TestWithAttachment {
  test: TestRecord;
  attachment: HostedBrowserAttachment;
}

/**
 * Builds a session's record from the attachments of its tests. They contain nothing about the time before and after the
 * tests.
 */
export function sessionFromTests(served: readonly [TestWithAttachment, ...TestWithAttachment[]]): SessionRecord {
  const [first] = served;
  const attachments = served.map(({ attachment }) => attachment);
  const { sessionId, leaseId, poolId, servedBy, project, parallelIndex, shard, startedAt } = first.attachment;
  const figures = attachments.flatMap(({ bandwidthBytes }) => bandwidthBytes ?? []);
  return withTotals({
    sessionId,
    leaseId,
    poolId,
    servedBy,
    source: leaseId === null ? 'session' : 'pool',
    type: null,
    project,
    parallelIndex,
    shard,
    requestedAt: null,
    startedAt: attachments.map((each) => each.startedAt).sort()[0] ?? startedAt,
    lentAt: null,
    endingAt: null,
    endedAt: null,
    startMs: null,
    waitMs: null,
    endReason: null,
    endConfirmed: null,
    workersServed: new Set(attachments.map(({ workerIndex }) => workerIndex)).size,
    bridgedBytes: proxiedBytesOf(served.map(({ test }) => test)),
    pictureBytes: 0,
    roundTripMs: null,
    carriedOrigins: [],
    // The service gave these figures during the session. The last one is the highest.
    bandwidthBytes: figures.length > 0 ? largest(figures) : null,
    tests: served.map(({ test }) => test),
  });
}

/** What tests moved through the test machine, as far as it is known. */
export function proxiedBytesOf(tests: readonly TestRecord[]): number {
  return tests.reduce((sum, { proxiedBytes }) => sum + (proxiedBytes ?? 0), 0);
}
