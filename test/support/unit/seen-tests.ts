import type { TestCase, TestResult } from '@playwright/test/reporter';
import type { HostedBrowserAttachment } from '../../../src/record/attachment.ts';
import { at } from './records.ts';

/** A try of a test as Playwright passes it to reporters. */
interface Seen extends Partial<HostedBrowserAttachment> {
  retry?: number;
  status?: TestResult['status'];
  /** Replaces the valid attachment. */
  body?: string;
}

/** A test with the attachment of its worker, if it used a browser: `sessionId`. */
export function seen(id: string, given: Seen = {}): [TestCase, TestResult] {
  const { retry = 0, status = 'passed', body, ...attachment } = given;
  const testCase = {
    id,
    expectedStatus: 'passed',
    annotations: [],
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
