import { expect, test } from '@playwright/test';
import { withFigures } from '../../../src/record/figures.ts';
import type { RunRecord, SessionRecord } from '../../../src/record/run-record.ts';
import { withTotals } from '../../../src/record/session-record.ts';
import { figureRows } from '../../../src/report/summary/figure-rows.ts';
import { aRecord, aSession, aTest, at, TROUBLED_RUN } from '../../support/unit/records.ts';

const figuresOf = (record: RunRecord) => withFigures(record).figures;

test('computes the figures of a run', () => {
  const { slowest, heaviest, ...figures } = figuresOf(TROUBLED_RUN);
  expect(figures).toEqual({
    sessions: 2,
    fromPool: 1,
    tests: 6,
    retries: 1,
    failedTests: 1,
    lostTests: 1,
    testsPerSession: { median: 4, most: 4 },
    waited: { median: 1_000, longest: 2_000 },
    start: { median: 2_250, p95: 4_000 },
    reconnects: 2,
    rollovers: 1,
    observedBytes: 1_105_000,
    proxiedBytes: 0,
    pictureBytes: 0,
    roundTripMs: null,
    savedMs: 0,
    serviceBytes: 3_000_000,
    withoutFigure: 1,
    // The second session has no figure of the service, so the bytes of its tests count.
    usedBytes: 3_203_000,
    costCents: 7,
    lost: ['session two was lost'],
    leaseFailures: ['out of credit'],
    unconfirmed: ['two'],
  });
  expect(slowest.map(({ id, durationMs }) => [id, durationMs])).toEqual([
    ['both', 16_000],
    ['flaky', 3_000],
    ['flaky', 2_000],
    ['expected', 2_000],
    ['fails', 2_000],
  ]);
  expect(heaviest[0]).toMatchObject({ id: 'both', observedBytes: 1_100_000 });
  expect(heaviest.map(({ id }) => id)).not.toContain('expected');
});

test('counts what tests moved through the test machine, and shows the larger figure first', () => {
  const session = (bridgedBytes: number, observedBytes: number, bandwidthBytes: number | null) =>
    aSession({ bridgedBytes, observedBytes, bandwidthBytes });
  const bandwidthOf = (...sessions: SessionRecord[]) => {
    const run = withFigures(aRecord({ sessions }));
    return [run.figures.usedBytes, figureRows(run).find(({ label }) => label === 'used')?.value];
  };
  const local = session(4_000_000, 0, 0);
  expect(bandwidthOf(local)).toEqual([0, '4.0 MB through the test machine']);
  const remote = session(0, 5_000_000, 6_000_000);
  expect(bandwidthOf(remote)).toEqual([6_000_000, "6.0 MB by the service, 5.0 MB observed in the tests' pages"]);
  expect(bandwidthOf(local, remote)).toEqual([
    6_000_000,
    "6.0 MB by the service, 5.0 MB observed in the tests' pages; 4.0 MB through the test machine",
  ]);
});

test('ranks tests by all that their pages moved', () => {
  const tests = [
    aTest({ id: 'observed', observedBytes: 500 }),
    aTest({ id: 'proxied', observedBytes: 0, proxiedBytes: 700, proxiedSentBytes: 10 }),
    aTest({ id: 'both', observedBytes: 400, proxiedBytes: 400 }),
    aTest({ id: 'unknown', observedBytes: null, proxiedBytes: null }),
    aTest({ id: 'none', observedBytes: 0, proxiedBytes: 0 }),
  ];
  const twice = aSession({
    sessionId: 'second',
    tests: [aTest({ id: 'unknown', observedBytes: null, proxiedBytes: 5 })],
  });
  const { heaviest } = figuresOf(aRecord({ sessions: [aSession({ tests }), twice] }));
  expect(heaviest.map(({ id }) => id)).toEqual(['both', 'proxied', 'observed', 'unknown']);
  // What one of its browsers did not count stays unknown; what the other one counted is kept.
  expect(heaviest[3]).toMatchObject({ observedBytes: null, proxiedBytes: 5 });
});

test('shows the distance to the browsers and the saved time', () => {
  const near = aSession({ sessionId: 'near', roundTripMs: 2, tests: [aTest({ savedMs: 0 })] });
  const far = aSession({
    sessionId: 'far',
    roundTripMs: 98.4,
    tests: [aTest({ savedMs: 30_000 }), aTest({ savedMs: 11_000 })],
  });
  const distanceOf = (...sessions: SessionRecord[]) => {
    const run = withFigures(aRecord({ sessions: sessions.map(withTotals) }));
    return figureRows(run)
      .find(({ label }) => label === 'browsers')
      ?.value.split('; ')
      .find((part) => part.includes('trip'));
  };
  expect(distanceOf(far)).toBe('98 ms per round trip, about 41.0 s of waiting saved');
  // Not shown when there is nothing to save.
  expect(distanceOf(near)).toBeUndefined();
  const plain = { ...far, tests: [aTest({})] };
  expect(distanceOf(plain)).toBe('98 ms per round trip');
});

test("excludes the wait for a browser from a test's time", () => {
  // Requested at 1 s, leased at 3 s: a test from 1.5 s to 6 s began with part of that wait.
  const waited = aSession({ lentAt: at(3), waitMs: 2_000, tests: [aTest({ startedAt: at(1.5), endedAt: at(6) })] });
  expect(figuresOf(aRecord({ sessions: [waited] })).slowest[0]?.durationMs).toBe(3_000);
  const moved = aSession({ sessionId: 'second', lentAt: at(5), waitMs: 1_000, tests: waited.tests });
  expect(figuresOf(aRecord({ sessions: [waited, moved] })).slowest[0]?.durationMs).toBe(2_000);
});

test('computes p95 as the value that 95 of 100 do not exceed', () => {
  const sessions = Array.from({ length: 100 }, (_, n) => aSession({ sessionId: `${n}`, startMs: 100 - n }));
  expect(figuresOf(aRecord({ sessions })).start).toEqual({ median: 50.5, p95: 95 });
});

test('shows no figure when it is unknown', () => {
  const session = aSession({ startMs: null, waitMs: null, endConfirmed: null });
  const figures = figuresOf(aRecord({ sessions: [session] }));
  expect(figures).toMatchObject({ start: null, waited: null, serviceBytes: null, costCents: null, unconfirmed: [] });
  // A payment during the run hides the cost.
  expect(figuresOf(aRecord({ balance: { startCents: 5, endCents: 1_000 } })).costCents).toBeNull();
});
