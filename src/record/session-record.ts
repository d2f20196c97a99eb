import { largest } from '../common/numbers/extremes.ts';
import type { HostedBrowserAttachment } from './attachment.ts';
import type { SessionRecord, TestRecord } from './run-record.ts';

/** What the tests of a session come to. */
export type SessionTotals = Pick<SessionRecord, 'testsServed' | 'observedBytes' | 'savedMs' | 'infrastructureFailures'>;

/** A session as it is known by itself: without its totals, which follow from its tests. */
export type SessionFacts = Omit<SessionRecord, keyof SessionTotals>;

/** A session's record: its totals are computed here from its tests, and nowhere else. */
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
 * How long, between two moments (ms since the epoch), a worker waited for this browser, in ms: runners count it as time of
 * the test that is running.
 */
export function waitWithin({ lentAt, waitMs }: SessionRecord, start: number, end: number): number {
  if (lentAt === null || waitMs === null) return 0;
  const lent = Date.parse(lentAt);
  return Math.max(0, Math.min(end, lent) - Math.max(start, lent - waitMs));
}

/** One try of a test in all records: the same test has one ID in each project, and each repetition one of its own. */
export function keyOf({ id, retry }: Pick<TestRecord, 'id' | 'retry'>): string {
  return `${id} ${retry}`;
}

/** A test that used a hosted browser, with what the worker attached to it. */
export interface ServedTest {
  test: TestRecord;
  attachment: HostedBrowserAttachment;
}

/**
 * A session by the tests that it served. What happened before and after them is not in their attachments, nor is what
 * crossed `exposeNetwork`.
 */
export function sessionFromTests(served: readonly [ServedTest, ...ServedTest[]]): SessionRecord {
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
    bridgedBytes: 0,
    roundTripMs: null,
    carriedOrigins: [],
    // Figures that the service gave while the session ran: the last one is the highest.
    bandwidthBytes: figures.length > 0 ? largest(figures) : null,
    tests: served.map(({ test }) => test),
  });
}
