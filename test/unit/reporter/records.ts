import type { RunRecord, SessionRecord, TestRecord } from '../../../src/record/run-record.ts';

/** Records with every field, to be changed where a test cares. */

const BASE = Date.parse('2026-03-01T10:00:00.000Z');

/** A moment so many seconds after the runs began. */
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
    infrastructureFailure: null,
    ...given,
  };
}

export function aSession(given: Partial<SessionRecord>): SessionRecord {
  const tests = given.tests ?? [];
  return {
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
    endConfirmed: true,
    testsServed: tests.length,
    workersServed: 1,
    observedBytes: tests.reduce((sum, test) => sum + (test.observedBytes ?? 0), 0),
    bridgedBytes: 0,
    bandwidthBytes: null,
    infrastructureFailures: [],
    tests,
    ...given,
  };
}

export function aRecord(given: Partial<RunRecord>): RunRecord {
  return {
    schema: 1,
    runId: 'run-1',
    service: 'hosted',
    chromiums: [],
    shard: null,
    startedAt: at(0),
    endedAt: at(22),
    sessions: [],
    leaseFailures: [],
    balance: null,
    merged: [],
    ...given,
  };
}
