import { deepEqual, equal } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { withFigures } from '../../../src/record/figures.ts';
import { type RunRecord, runRecord, type SessionRecord, type TestRecord } from '../../../src/record/run-record.ts';
import { RunRecorder } from '../../../src/record/run-recorder.ts';
import { withTotals } from '../../../src/record/session-record.ts';
import { mergeRecords } from '../../../src/record/shards/merge-records.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aRecord, aSession, aTest, at } from '../../support/unit/records.ts';

/** Totals depend only on the tests, not on their order or on how the record is divided. */

const SESSIONS = ['s0', 's1', 's2', 's3'];

interface Use {
  session: string;
  test: TestRecord;
  bridgedBytes: number;
  twice: boolean;
}

const uses: fc.Arbitrary<Use[]> = fc
  .array(
    fc.record({
      session: fc.constantFrom(...SESSIONS),
      status: fc.constantFrom('passed', 'failed', 'timedOut', 'interrupted'),
      ok: fc.boolean(),
      seconds: fc.nat(50),
      observedBytes: fc.option(fc.nat(1_000_000)),
      lost: fc.boolean(),
      bridgedBytes: fc.nat(1_000),
      twice: fc.boolean(),
    }),
    { maxLength: 20 },
  )
  .map((all) =>
    all.map(({ session, status, ok, seconds, observedBytes, lost, bridgedBytes, twice }, n) => ({
      session,
      bridgedBytes,
      twice,
      test: aTest({
        id: `test-${n >> 1}`,
        retry: n % 2,
        status,
        ok,
        observedBytes,
        endedAt: at(4 + seconds),
        infrastructureFailure: lost ? `${session} was lost in ${n}` : null,
      }),
    })),
  );

/** The record of a run whose broker received these reports in this order. */
async function recordOf(heard: readonly Use[]): Promise<RunRecord> {
  const recorder = new RunRecorder({
    runId: 'run-1',
    runner: 'playwright',
    service: 'hosted',
    chromiums: [],
    shard: null,
    recordDirectory: null,
    onWriteError: () => undefined,
  });
  for (const sessionId of SESSIONS) recorder.add(aSession({ sessionId, tests: [] }));
  for (const { session, test, bridgedBytes, twice } of heard) {
    const usage = { sessionId: session, test, bridgedBytes, pictureBytes: 0, roundTripMs: null, carriedOrigins: [] };
    for (let n = 0; n <= Number(twice); n += 1) recorder.testUsed(usage);
  }
  return await recorder.end(null);
}

const sum = (values: (number | null)[]) => values.reduce<number>((total, each) => total + (each ?? 0), 0);
const totals = ({ testsServed, observedBytes, bridgedBytes, infrastructureFailures }: SessionRecord) => ({
  testsServed,
  observedBytes,
  bridgedBytes,
  infrastructureFailures: infrastructureFailures.toSorted(),
});

const shuffled = uses.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));

test('sums up the tests of a session, in any order and each once', async () => {
  const property = fc.asyncProperty(shuffled, async ([all, inAnyOrder]) => {
    const record = await recordOf(all);
    deepEqual(runRecord.parse(record), record);
    for (const session of record.sessions) {
      const own = all.filter((each) => each.session === session.sessionId);
      deepEqual(totals(session), {
        testsServed: own.length,
        observedBytes: sum(own.map(({ test }) => test.observedBytes)),
        bridgedBytes: sum(own.map(({ bridgedBytes }) => bridgedBytes)),
        infrastructureFailures: own.flatMap(({ test }) => test.infrastructureFailure ?? []).toSorted(),
      });
      deepEqual(withTotals(session), session, 'computed again they are the same');
    }
    deepEqual((await recordOf(inAnyOrder)).sessions.map(totals), record.sessions.map(totals));
  });
  await fc.assert(property, propertyRuns(300));
});

/** If two are equal, their order decides which is listed. Only the listed values are compared. */
const comparable = (record: RunRecord) => {
  const { slowest, heaviest, lost, ...figures } = withFigures(record).figures;
  return {
    ...figures,
    lost: lost.toSorted(),
    slowest: slowest.map(({ durationMs }) => durationMs),
    heaviest: heaviest.map(({ observedBytes }) => observedBytes),
  };
};

const cuts = fc.tuple(uses, fc.array(fc.nat(2), { minLength: SESSIONS.length, maxLength: SESSIONS.length }));

test('gives merged records the same figures as the record of all', async () => {
  const property = fc.asyncProperty(cuts, async ([all, parts]) => {
    const whole = await recordOf(all);
    const cut = [0, 1, 2].map((part) =>
      aRecord({ sessions: whole.sessions.filter((_, n) => parts[n] === part), shard: { current: part + 1, total: 3 } }),
    );
    const merged = mergeRecords(cut);
    deepEqual(comparable(merged), comparable(whole));
    const again = mergeRecords([mergeRecords(cut.slice(0, 2)), ...cut.slice(2)]);
    deepEqual(again, merged);
    const { figures } = withFigures(merged);
    equal(figures.observedBytes, sum(all.map((each) => each.test.observedBytes)));
    equal(figures.proxiedBytes, sum(all.map(({ bridgedBytes }) => bridgedBytes)));
    equal(figures.tests + figures.retries, all.length);
  });
  await fc.assert(property, propertyRuns(300));
});
