import type { RunRecord, SessionRecord, TestRecord } from '../../../src/record/run-record.ts';
import { withTotals } from '../../../src/record/session-record.ts';

/** Records with all fields, to be modified by tests. */

const BASE = Date.parse('2026-03-01T10:00:00.000Z');

/** A time, in seconds after the start of the runs. */
export function at(seconds: number): string {
  return new Date(BASE + seconds * 1000).toISOString();
}

export function aTest(given: Partial<TestRecord>): TestRecord {
  return {
    id: 'file-test',
    title: 'a test',
    file: 'a.spec.ts',
    line: 3,
    project: 'us',
    parallelIndex: 0,
    retry: 0,
    status: 'passed',
    ok: true,
    startedAt: at(4),
    endedAt: at(6),
    observedBytes: 1_000,
    proxiedBytes: 0,
    proxiedSentBytes: 0,
    savedMs: 0,
    infrastructureFailure: null,
    evidence: null,
    holds: [],
    ...given,
  };
}

export function aSession(given: Partial<SessionRecord>): SessionRecord {
  const facts = withTotals({
    sessionId: 'session-1',
    leaseId: null,
    poolId: null,
    servedBy: null,
    source: 'session',
    type: 'hosted',
    project: 'us',
    parallelIndex: 0,
    shard: null,
    requestedAt: at(1),
    startedAt: at(3),
    lentAt: at(3),
    endingAt: at(20),
    endedAt: at(21),
    startMs: 2_000,
    waitMs: 1_500,
    endReason: 'finished',
    roundTripMs: null,
    endConfirmed: true,
    workersServed: 1,
    bridgedBytes: 0,
    pictureBytes: 0,
    carriedOrigins: [],
    bandwidthBytes: null,
    tests: given.tests ?? [],
  });
  return { ...facts, ...given };
}

export function aRecord(given: Partial<RunRecord>): RunRecord {
  return {
    schema: 1,
    runId: 'run-1',
    runner: 'playwright',
    service: 'hosted',
    chromiums: [],
    shard: null,
    browsers: null,
    startedAt: at(0),
    endedAt: at(22),
    sessions: [],
    leaseFailures: [],
    failures: [],
    balance: null,
    partition: null,
    work: null,
    merged: [],
    ...given,
  };
}

/** Two sessions: a flaky test, one that lost its browser, one that used both browsers, and one that failed. */
export const TROUBLED_RUN = aRecord({
  balance: { startCents: 100, endCents: 93 },
  sessions: [
    aSession({
      sessionId: 'one',
      source: 'pool',
      startMs: 500,
      waitMs: 0,
      workersServed: 3,
      endReason: 'rolled-over',
      bandwidthBytes: 3_000_000,
      tests: [
        aTest({ id: 'flaky', status: 'failed', ok: false }),
        aTest({ id: 'flaky', retry: 1, endedAt: at(7) }),
        aTest({ id: 'both', observedBytes: 900_000, endedAt: at(20) }),
        aTest({ id: 'expected', status: 'failed', ok: true, observedBytes: null }),
      ],
    }),
    aSession({
      sessionId: 'two',
      startMs: 4_000,
      waitMs: 2_000,
      endConfirmed: false,
      tests: [
        aTest({ id: 'both', observedBytes: 200_000, endedAt: at(20) }),
        aTest({ id: 'fails', status: 'timedOut', ok: false }),
        aTest({ id: 'lost', status: 'failed', ok: false, infrastructureFailure: 'session two was lost' }),
        aTest({ id: 'stopped', status: 'interrupted', ok: false }),
      ],
    }),
  ],
  leaseFailures: ['out of credit', 'out of credit'],
});
