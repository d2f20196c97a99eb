import type { RunRecord, SessionRecord, TestRecord } from '../../../src/record/run-record.ts';
import { proxiedBytesOf } from '../../../src/record/session-record.ts';
import { aRecord, aSession, aTest, at } from '../../support/unit/records.ts';

/** Generated records for a timeline. The same numbers give the same record. */

const STATUSES: TestRecord['status'][] = ['failed', 'timedOut', 'skipped', 'interrupted'];

/** Returns a run with this many slots and tests; about one test in ten did not pass, and some lost their browser. */
export function drawnRecord(slots: number, tests: number): RunRecord {
  const perSlot = Math.ceil(tests / slots);
  const sessions = Array.from({ length: slots }, (_, slot) =>
    drawnSlot(slot, slot * perSlot, Math.min(tests, (slot + 1) * perSlot)),
  ).flat();
  return aRecord({ sessions, runId: 'ci-4711-1', balance: { startCents: 900, endCents: 850 }, endedAt: at(400) });
}

/** Returns a slot's sessions, with the tests of these numbers. */
function drawnSlot(slot: number, first: number, end: number): SessionRecord[] {
  const sessions: SessionRecord[] = [];
  let served: TestRecord[] = [];
  let second = 4 + (slot % 7);
  let begin = second;
  for (let n = first; n < end; n += 1) {
    const test = drawnTest(n, slot, second);
    served.push(test);
    second += drawnSeconds(n) + 0.5;
    if (test.infrastructureFailure === null) continue;
    sessions.push(drawnSession(slot, served, begin, second, 'lost'));
    served = [];
    second += 5;
    begin = second;
  }
  return [...sessions, drawnSession(slot, served, begin, second, slot % 5 === 4 ? 'rolled-over' : 'run-ended')];
}

function drawnSeconds(n: number): number {
  return 1 + ((n * 7) % 9);
}

function drawnTest(n: number, slot: number, second: number): TestRecord {
  const project = slot % 3 === 0 ? 'de' : 'us';
  const odd = n % 10 === 9;
  const lost = n % 40 === 29;
  const oddStatus = lost ? 'failed' : (STATUSES[Math.floor(n / 10) % 4] ?? 'failed');
  const status = odd ? oddStatus : 'passed';
  return aTest({
    id: `${String(n % 97).padStart(20, 'f')}-${String(n).padStart(20, 'a')}`,
    title: `checkout › ${project} customer number ${n} pays by </script> & card`,
    file: `tests/shop/area-${n % 97}.spec.ts`,
    line: 10 + (n % 300),
    project,
    parallelIndex: slot,
    status,
    ok: status === 'passed' || status === 'skipped',
    startedAt: at(second),
    endedAt: at(second + drawnSeconds(n)),
    observedBytes: 40_000 * (1 + (n % 13)),
    proxiedBytes: 25_000 * (n % 7),
    proxiedSentBytes: 1_000 * (n % 7),
    infrastructureFailure: lost ? `session of slot ${slot} was lost (its link closed): the browser crashed` : null,
  });
}

function drawnSession(
  slot: number,
  tests: TestRecord[],
  begin: number,
  end: number,
  endReason: SessionRecord['endReason'],
): SessionRecord {
  return aSession({
    sessionId: `session-${slot}-${begin}`,
    project: slot % 3 === 0 ? 'de' : 'us',
    parallelIndex: slot,
    shard: { current: (slot % 2) + 1, total: 2 },
    ...(slot % 2 === 0 ? { source: 'pool' as const, poolId: 'pool_e2e', leaseId: `lease-${slot}-${begin}` } : {}),
    requestedAt: at(begin - 3),
    startedAt: at(begin - 1),
    lentAt: at(begin),
    endingAt: at(end),
    endedAt: at(end + 1),
    waitMs: 1_000 * (slot % 4),
    endReason,
    bridgedBytes: proxiedBytesOf(tests),
    bandwidthBytes: tests.length * 310_000,
    infrastructureFailures: tests.flatMap(({ infrastructureFailure }) => infrastructureFailure ?? []),
    tests,
  });
}
