import type { RunRecord, SessionRecord, TestRecord } from './run-record.ts';
import { keyOf, waitWithin } from './session-record.ts';

/** How many of the slowest and heaviest tests are named. */
const NAMED = 5;

/** A try of a test; one that used several browsers counts once. */
export interface TestTry extends TestRecord {
  /** ms, without what its worker waited for a browser. */
  durationMs: number;
}

/** A record and its figures, computed once for summary, Markdown, budget and timeline. */
export interface RunWithFigures {
  record: RunRecord;
  figures: RunFigures;
}

/** What a run comes to. */
export interface RunFigures {
  sessions: number;
  fromPool: number;
  /** Tests that used a hosted browser, and tries of them beyond the first. */
  tests: number;
  retries: number;
  /** Tests whose last try failed by themselves, and those whose browser was lost. */
  failedTests: number;
  lostTests: number;
  testsPerSession: { median: number; most: number } | null;
  /** ms that workers waited for a fresh browser. */
  waited: { median: number; longest: number } | null;
  /** ms from asking the service for a browser to having it. */
  start: { median: number; p95: number } | null;
  /** Times that a worker took over the browser of another one. */
  reconnects: number;
  /** Browsers replaced because they were about to end. */
  rollovers: number;
  observedBytes: number;
  /** What crossed `exposeNetwork`, in neither of the others. */
  bridgedBytes: number;
  /** Median of the browsers' round trips, in ms; null where nobody has measured. */
  roundTripMs: number | null;
  /** What waiting for round trips was saved, in ms. */
  savedMs: number;
  /** By the service; null where it gave no figure at all. */
  serviceBytes: number | null;
  /** Sessions that `serviceBytes` does not cover. */
  withoutFigure: number;
  /** By the service, and of sessions without a figure what their tests' pages moved: what a budget is held against. */
  usedBytes: number;
  /** What the balance fell by; null where that is not known. */
  costCents: number | null;
  /** Why browsers were lost, and why leases failed. */
  lost: string[];
  leaseFailures: string[];
  /** Sessions whose end the service has not confirmed. */
  unconfirmed: string[];
  slowest: TestTry[];
  heaviest: TestTry[];
}

/** Computes the figures of a record. */
export function withFigures(record: RunRecord): RunWithFigures {
  return { record, figures: figuresOf(record) };
}

function figuresOf(record: RunRecord): RunFigures {
  const { sessions } = record;
  const tries = triesOf(sessions);
  const last = new Map<string, TestTry>();
  for (const one of tries) if (one.retry >= (last.get(one.id)?.retry ?? 0)) last.set(one.id, one);
  const notOk = [...last.values()].filter(({ ok, status }) => !ok && status !== 'interrupted');
  const lostTests = notOk.filter(({ infrastructureFailure }) => infrastructureFailure !== null).length;
  const served = sorted(sessions.map(({ testsServed }) => testsServed));
  const waits = sorted(sessions.flatMap(({ waitMs }) => waitMs ?? []));
  const starts = sorted(sessions.flatMap(({ startMs }) => startMs ?? []));
  const trips = sorted(sessions.flatMap(({ roundTripMs }) => roundTripMs ?? []));
  const withServiceFigure = sessions.filter(({ bandwidthBytes }) => bandwidthBytes !== null);
  return {
    sessions: sessions.length,
    fromPool: sessions.filter(({ source }) => source === 'pool').length,
    tests: last.size,
    retries: tries.length - last.size,
    failedTests: notOk.length - lostTests,
    lostTests,
    testsPerSession: served.length > 0 ? { median: quantile(served, 0.5), most: quantile(served, 1) } : null,
    waited: waits.length > 0 ? { median: quantile(waits, 0.5), longest: quantile(waits, 1) } : null,
    start: starts.length > 0 ? { median: quantile(starts, 0.5), p95: quantile(starts, 0.95) } : null,
    reconnects: sum(sessions, ({ workersServed }) => Math.max(0, workersServed - 1)),
    rollovers: sessions.filter(({ endReason }) => endReason === 'rolled-over').length,
    observedBytes: sum(sessions, ({ observedBytes }) => observedBytes),
    bridgedBytes: sum(sessions, ({ bridgedBytes }) => bridgedBytes),
    roundTripMs: trips.length > 0 ? quantile(trips, 0.5) : null,
    savedMs: sum(sessions, ({ savedMs }) => savedMs),
    serviceBytes:
      withServiceFigure.length > 0 ? sum(withServiceFigure, ({ bandwidthBytes }) => bandwidthBytes ?? 0) : null,
    withoutFigure: sessions.length - withServiceFigure.length,
    usedBytes: sum(sessions, ({ bandwidthBytes, observedBytes }) => bandwidthBytes ?? observedBytes),
    costCents: costOf(record),
    lost: sessions.flatMap(({ infrastructureFailures }) => infrastructureFailures),
    leaseFailures: [...new Set(record.leaseFailures)],
    unconfirmed: sessions.filter(({ endConfirmed }) => endConfirmed === false).map(({ sessionId }) => sessionId),
    slowest: top(tries, ({ durationMs }) => durationMs),
    heaviest: top(tries, ({ observedBytes }) => observedBytes ?? 0),
  };
}

/** Money that came in meanwhile hides what was spent. */
function costOf({ balance }: RunRecord): number | null {
  return balance && balance.endCents <= balance.startCents ? balance.startCents - balance.endCents : null;
}

function triesOf(sessions: SessionRecord[]): TestTry[] {
  const tries = new Map<string, TestTry>();
  for (const session of sessions) {
    for (const test of session.tests) {
      const key = keyOf(test);
      const known = tries.get(key);
      const [start, end] = [Date.parse(test.startedAt), Date.parse(test.endedAt)];
      const waited = waitWithin(session, start, end);
      if (!known) tries.set(key, { ...test, durationMs: Math.max(0, end - start - waited) });
      else {
        known.durationMs = Math.max(0, known.durationMs - waited);
        known.observedBytes = (known.observedBytes ?? 0) + (test.observedBytes ?? 0);
        known.infrastructureFailure ??= test.infrastructureFailure;
      }
    }
  }
  return [...tries.values()];
}

/** The largest ones, those of nothing left out. */
function top(tries: TestTry[], size: (one: TestTry) => number): TestTry[] {
  const some = tries.filter((one) => size(one) > 0);
  return some.sort((a, b) => size(b) - size(a)).slice(0, NAMED);
}

function sum<T>(items: T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function sorted(values: number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

/** The smallest value that so large a share of all does not exceed. */
function quantile(values: number[], share: number): number {
  return values[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;
}
