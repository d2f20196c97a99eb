import type { RunRecord, SessionRecord, TestRecord } from './run-record.ts';
import { waitWithin } from './session-record.ts';
import { keyOf, sumOfKnown } from './test-record.ts';

/** How many of the slowest and heaviest tests are listed. */
export const LISTED = 5;

/** A try of a test. A try that used several browsers counts once. */
export interface TestTry extends TestRecord {
  /** ms, without the time its worker waited for a browser. */
  durationMs: number;
}

/** A record and its figures, computed once for summary, Markdown, budget and timeline. */
export interface RunWithFigures {
  record: RunRecord;
  figures: RunFigures;
  /** Of features. Default: none. */
  others?: readonly FigureRow[];
}

/** A figure for terminal, Markdown and timeline. */
export interface FigureRow {
  label: string;
  value: string;
}

/** Figures of a run. */
export interface RunFigures {
  sessions: number;
  fromPool: number;
  /** Number of tests that used a hosted browser, and of their tries after the first. */
  tests: number;
  retries: number;
  /** Tests whose last try failed, without and with a lost browser. */
  failedTests: number;
  lostTests: number;
  testsPerSession: { median: number; most: number } | null;
  /** How long workers waited for a new browser, in ms. */
  waited: { median: number; longest: number } | null;
  /** Time from requesting a browser to receiving it, in ms. */
  start: { median: number; p95: number } | null;
  /** How often a worker took over another worker's browser. */
  reconnects: number;
  /** Browsers replaced because they were about to end. */
  rollovers: number;
  observedBytes: number;
  /** Bytes through `exposeNetwork`, not included in the other figures. */
  proxiedBytes: number;
  /** Bytes of pictures taken of pages, not included in the other figures. */
  pictureBytes: number;
  /** Median of the browsers' round-trip times, in ms; null if none was measured. */
  roundTripMs: number | null;
  /** Saved waiting for round trips, in ms. */
  savedMs: number;
  /** The service's figure; null if it gave none. */
  serviceBytes: number | null;
  /** Sessions that `serviceBytes` does not include. */
  withoutFigure: number;
  /** Bytes that count towards the budget: by the service, or observed in sessions without its figure. */
  usedBytes: number;
  /** Decrease of the balance; null if unknown. */
  costCents: number | null;
  /** Reasons for lost browsers and failed leases. */
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
    testsPerSession: served.length > 0 ? { median: median(served), most: quantile(served, 1) } : null,
    waited: waits.length > 0 ? { median: median(waits), longest: quantile(waits, 1) } : null,
    start: starts.length > 0 ? { median: median(starts), p95: quantile(starts, 0.95) } : null,
    reconnects: sum(sessions, ({ workersServed }) => Math.max(0, workersServed - 1)),
    rollovers: sessions.filter(({ endReason }) => endReason === 'rolled-over').length,
    observedBytes: sum(sessions, ({ observedBytes }) => observedBytes),
    proxiedBytes: sum(sessions, ({ bridgedBytes }) => bridgedBytes),
    pictureBytes: sum(sessions, ({ pictureBytes }) => pictureBytes),
    roundTripMs: trips.length > 0 ? median(trips) : null,
    savedMs: sum(sessions, ({ savedMs }) => savedMs),
    serviceBytes:
      withServiceFigure.length > 0 ? sum(withServiceFigure, ({ bandwidthBytes }) => bandwidthBytes ?? 0) : null,
    withoutFigure: sessions.length - withServiceFigure.length,
    usedBytes: sum(sessions, ({ bandwidthBytes, observedBytes }) => bandwidthBytes ?? observedBytes),
    costCents: costOf(record),
    lost: sessions.flatMap(({ infrastructureFailures }) => infrastructureFailures),
    leaseFailures: withCodes(record),
    unconfirmed: sessions.filter(({ endConfirmed }) => endConfirmed === false).map(({ sessionId }) => sessionId),
    slowest: top(tries, ({ durationMs }) => durationMs),
    heaviest: top(tries, movedBytes),
  };
}

/** Null if the balance has grown: a payment during the run hides the cost. */
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
        known.observedBytes = sumOfKnown([known, test], ({ observedBytes }) => observedBytes);
        known.proxiedBytes = sumOfKnown([known, test], ({ proxiedBytes }) => proxiedBytes);
        known.proxiedSentBytes = sumOfKnown([known, test], ({ proxiedSentBytes }) => proxiedSentBytes);
        known.infrastructureFailure ??= test.infrastructureFailure;
      }
    }
  }
  return [...tries.values()];
}

/** All bytes that a test's pages moved, directly and through the test machine. */
export function movedBytes({ observedBytes, proxiedBytes }: TestTry): number {
  return (observedBytes ?? 0) + (proxiedBytes ?? 0);
}

/** The largest ones, without those of size 0. */
function top(tries: TestTry[], size: (one: TestTry) => number): TestTry[] {
  const some = tries.filter((one) => size(one) > 0);
  return some.sort((a, b) => size(b) - size(a)).slice(0, LISTED);
}

function sum<T>(items: T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function sorted(values: number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

/** The smallest value that is at least as large as this share of all values. */
function quantile(values: number[], share: number): number {
  return values[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;
}

/** The failures to get a browser, each once, with the code that the troubleshooting page explains. */
function withCodes({ leaseFailures, failures }: Pick<RunRecord, 'leaseFailures' | 'failures'>): string[] {
  const codes = new Map(failures.map(({ code, message }) => [message, code]));
  return [...new Set(leaseFailures)].map((message) => {
    const code = codes.get(message);
    return code === undefined ? message : `${message} [${code}]`;
  });
}

/** The middle one of sorted values, or the mean of the two in the middle; 0 for no values. */
function median(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  const [low = 0, high = low] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
