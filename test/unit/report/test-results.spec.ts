import { deepEqual } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import type { RunRecord } from '../../../src/record/run-record.ts';
import { TestResults } from '../../../src/report/test-results.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aRecord, aSession, aTest, at } from '../../support/unit/records.ts';
import { seen } from '../../support/unit/seen-tests.ts';

const ids = (record: RunRecord | null) =>
  record?.sessions.map(({ sessionId, tests }) => [sessionId, tests.map(({ id }) => id)]);

test('adds a test that was not reported to the broker to its session once', () => {
  const results = new TestResults('/root');
  results.add(
    ...seen('known', { sessionId: 'session-1', observedBytes: 1_000, infrastructureFailure: 'said by both' }),
  );
  results.add(
    ...seen('missed', { sessionId: 'session-1', observedBytes: 70, infrastructureFailure: 'its link closed' }),
  );
  results.add(...seen('unmetered', { sessionId: 'session-1' }));
  results.add(...seen('elsewhere', { sessionId: 'session-2', observedBytes: 5 }));
  results.add(...seen('of an unknown session', { sessionId: 'session-3', observedBytes: 5 }));
  const known = aTest({ id: 'known', infrastructureFailure: 'said by both' });
  const sessions = [aSession({ tests: [known] }), aSession({ sessionId: 'session-2' })];
  const [first, second, ...others] = results.complete(aRecord({ sessions })).sessions;
  expect(first).toMatchObject({
    testsServed: 3,
    observedBytes: 1_070,
    infrastructureFailures: ['said by both', 'its link closed'],
  });
  expect(first?.tests.map(({ id }) => id)).toEqual(['known', 'missed', 'unmetered']);
  expect(second).toMatchObject({ testsServed: 1, observedBytes: 5, infrastructureFailures: [] });
  expect(others).toEqual([]);
});

test('knows what tests proxied from their attachments, unless an earlier version made these', () => {
  const results = new TestResults('/root');
  results.add(...seen('local', { sessionId: 's1', proxiedBytes: 900, proxiedSentBytes: 100 }));
  results.add(...seen('another', { sessionId: 's1', proxiedBytes: 50, proxiedSentBytes: 0 }));
  results.add(...seen('older', { sessionId: 's2' }));
  const [first, second] = results.fromAttachments()?.sessions ?? [];
  expect(first).toMatchObject({ bridgedBytes: 950 });
  expect(first?.tests.map(({ proxiedBytes, proxiedSentBytes }) => [proxiedBytes, proxiedSentBytes])).toEqual([
    [900, 100],
    [50, 0],
  ]);
  expect(second?.tests).toMatchObject([{ proxiedBytes: null, proxiedSentBytes: null }]);
  // One of them was not reported to the broker.
  const session = aSession({ sessionId: 's1', bridgedBytes: 60, tests: [aTest({ id: 'another', proxiedBytes: 50 })] });
  const [completed] = results.complete(aRecord({ sessions: [session] })).sessions;
  expect(completed).toMatchObject({ bridgedBytes: 960, testsServed: 2 });
});

test('takes status and times from the reporter, and bytes from the worker', () => {
  const results = new TestResults('/root');
  results.add(...seen('flaky', { sessionId: 'session-1', observedBytes: 9, status: 'timedOut' }));
  results.add(...seen('flaky', { sessionId: 'session-1', observedBytes: 9, retry: 1 }));
  const tests = [aTest({ id: 'flaky' }), aTest({ id: 'flaky', retry: 1 }), aTest({ id: 'interrupted' })];
  const [session] = results.complete(aRecord({ sessions: [aSession({ tests })] })).sessions;
  const times = { startedAt: at(5), endedAt: at(7) };
  expect(session?.tests).toEqual([
    aTest({ id: 'flaky', status: 'timedOut', ok: false, ...times }),
    aTest({ id: 'flaky', retry: 1, ...times }),
    aTest({ id: 'interrupted' }),
  ]);
});

test('completes a test with two browsers in both sessions', () => {
  const results = new TestResults('/root');
  results.add(...seen('both', { sessionId: 'session-2', observedBytes: 30, status: 'failed' }));
  const sessions = [
    aSession({ tests: [aTest({ id: 'both', observedBytes: 10 })] }),
    aSession({ sessionId: 'session-2', tests: [aTest({ id: 'both', observedBytes: 20 })] }),
  ];
  const completed = results.complete(aRecord({ sessions })).sessions;
  expect(completed.map(({ tests }) => tests.map(({ status, observedBytes }) => [status, observedBytes]))).toEqual([
    [['failed', 10]],
    [['failed', 20]],
  ]);
});

test('builds a record from attachments, without tests that have none or another version', () => {
  const results = new TestResults('/root');
  results.add(...seen('without'));
  results.add(...seen('of another version', { body: '{"schema":2}' }));
  expect(results.fromAttachments()).toBeNull();
  results.add(...seen('first', { sessionId: 's1', leaseId: 'l1', observedBytes: 5, bandwidthBytes: 80 }));
  results.add(...seen('other', { sessionId: 's2', startedAt: at(1) }));
  results.add(
    ...seen('second', { sessionId: 's1', leaseId: 'l1', observedBytes: 6, bandwidthBytes: 90, workerIndex: 1 }),
  );
  const record = results.fromAttachments();
  expect(record).toMatchObject({ runId: null, startedAt: at(1), endedAt: at(7), sessions: [{ source: 'pool' }, {}] });
  expect(ids(record)).toEqual([
    ['s1', ['first', 'second']],
    ['s2', ['other']],
  ]);
  expect(record?.sessions[0]).toMatchObject({
    testsServed: 2,
    workersServed: 2,
    observedBytes: 11,
    bandwidthBytes: 90,
  });
});

const tries = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    retry: fc.nat(2),
    session: fc.constantFrom('s1', 's2'),
    bytes: fc.nat(1_000),
    heard: fc.boolean(),
  }),
  { selector: ({ id, retry }) => `${id} ${retry}`, maxLength: 12 },
);

test('completes the record with every test once, whatever part the broker received', () => {
  const property = fc.property(tries, (all) => {
    const results = new TestResults('/root');
    for (const { id, retry, session: sessionId, bytes: observedBytes } of all)
      results.add(...seen(id, { retry, sessionId, observedBytes }));
    const sessions = ['s1', 's2'].map((sessionId) => {
      const heard = all.filter((each) => each.heard && each.session === sessionId);
      return aSession({
        sessionId,
        tests: heard.map(({ id, retry, bytes: observedBytes }) => aTest({ id, retry, observedBytes })),
      });
    });
    const completed = results.complete(aRecord({ sessions }));
    for (const { sessionId, tests, testsServed, observedBytes } of completed.sessions) {
      const own = all.filter(({ session }) => session === sessionId);
      const keys = (of: { id: string; retry: number }[]) => of.map(({ id, retry }) => `${id} ${retry}`).toSorted();
      deepEqual(keys(tests), keys(own));
      deepEqual([testsServed, observedBytes], [own.length, own.reduce((sum, { bytes }) => sum + bytes, 0)]);
    }
    deepEqual(results.complete(completed), completed, 'completing it again changes nothing');
  });
  fc.assert(property, propertyRuns(300));
});
