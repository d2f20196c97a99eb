import type { TestCase, TestResult } from '@playwright/test/reporter';
import type { HostedBrowserAttachment } from '../../../src/record/attachment.ts';
import { at } from './records.ts';

/** A try of a test as Playwright's reporters are told of it. */
interface Seen extends Partial<HostedBrowserAttachment> {
  retry?: number;
  status?: TestResult['status'];
  /** What is attached instead of a record of this version. */
  body?: string;
}

/** A test with what its worker attached, if it used a browser: `sessionId` says which. */
export function seen(id: string, given: Seen = {}): [TestCase, TestResult] {
  const { retry = 0, status = 'passed', body, ...attachment } = given;
  const testCase = {
    id,
    expectedStatus: 'passed',
    location: { file: '/root/a.spec.ts', line: 3, column: 1 },
    titlePath: () => ['', 'us', 'a.spec.ts', 'a test'],
  };
  const whole = {
    schema: 1,
    sessionId: 'session-1',
    leaseId: null,
    poolId: null,
    servedBy: null,
    project: 'us',
    workerIndex: 0,
    parallelIndex: 0,
    shard: null,
    startedAt: at(4),
    endedAt: at(6),
    observedBytes: null,
    bandwidthBytes: null,
    reused: false,
    infrastructureFailure: null,
    ...attachment,
  };
  const text = body ?? JSON.stringify(whole);
  const used = given.sessionId !== undefined || body !== undefined;
  const result = {
    retry,
    status,
    startTime: new Date(at(5)),
    duration: 2_000,
    parallelIndex: 0,
    attachments: used ? [{ name: 'hosted-browser', contentType: 'application/json', body: Buffer.from(text) }] : [],
  };
  return [testCase as unknown as TestCase, result as unknown as TestResult];
}
