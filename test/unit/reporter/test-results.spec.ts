import { expect, test } from '@playwright/test';
import type { TestCase, TestResult } from '@playwright/test/reporter';
import { TestResults } from '../../../src/reporter/test-results.ts';
import { aRecord, aSession, aTest, at } from '../record/records.ts';

/** A test as Playwright's reporter sees it, with what the worker attached. */
function seen(id: string, given: { sessionId: string; observedBytes: number | null; failure?: string }) {
  const testCase = {
    id,
    expectedStatus: 'passed',
    location: { file: '/root/a.spec.ts', line: 3, column: 1 },
    titlePath: () => ['', 'us', 'a.spec.ts', 'a test'],
  };
  const attachment = {
    schema: 1,
    sessionId: given.sessionId,
    leaseId: null,
    poolId: null,
    servedBy: null,
    project: 'us',
    workerIndex: 0,
    parallelIndex: 0,
    shard: null,
    startedAt: at(4),
    endedAt: at(6),
    observedBytes: given.observedBytes,
    bandwidthBytes: null,
    reused: false,
    infrastructureFailure: given.failure ?? null,
  };
  const result = {
    retry: 0,
    status: 'passed',
    startTime: new Date(at(4)),
    duration: 2_000,
    parallelIndex: 0,
    attachments: [
      { name: 'hosted-browser', contentType: 'application/json', body: Buffer.from(JSON.stringify(attachment)) },
    ],
  };
  return [testCase as unknown as TestCase, result as unknown as TestResult] as const;
}

test("a test that the broker did not hear of is in its session's figures, too, and once", () => {
  const results = new TestResults('/root');
  results.add(...seen('known', { sessionId: 'session-1', observedBytes: 1_000, failure: 'said by both' }));
  results.add(...seen('missed', { sessionId: 'session-1', observedBytes: 70, failure: 'its link closed' }));
  results.add(...seen('unmetered', { sessionId: 'session-1', observedBytes: null }));
  results.add(...seen('elsewhere', { sessionId: 'session-2', observedBytes: 5 }));
  const known = aTest({ id: 'known', infrastructureFailure: 'said by both' });
  const sessions = [
    aSession({ tests: [known], infrastructureFailures: ['said by both'] }),
    aSession({ sessionId: 'session-2' }),
  ];
  const [first, second] = results.complete(aRecord({ sessions })).sessions;
  expect(first).toMatchObject({
    testsServed: 3,
    observedBytes: 1_070,
    infrastructureFailures: ['said by both', 'its link closed'],
  });
  expect(first?.tests.map(({ id }) => id)).toEqual(['known', 'missed', 'unmetered']);
  expect(second).toMatchObject({ testsServed: 1, observedBytes: 5, infrastructureFailures: [] });
});
