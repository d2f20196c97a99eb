import { expect, test } from '@playwright/test';
import { hostedBrowserAttachment, readAttachment } from '../../../src/record/attachment.ts';
import { sessionFromTests } from '../../../src/record/session-record.ts';
import {
  type AttachmentContext,
  attachmentOf,
  type BrowserUse,
  combinedUse,
  testRecordOf,
} from '../../../src/record/test-record.ts';
import { at } from '../../support/unit/records.ts';

/** A test's entry in the record and its attachment contain the same facts. */

const facts = {
  id: 'test-1',
  titles: ['group', 'a test'],
  file: '/root/tests/deep/a.spec.ts',
  rootDir: '/root',
  line: 3,
  project: 'us',
  parallelIndex: 1,
  retry: 2,
  status: 'failed' as const,
  ok: true,
  startedAt: new Date(at(4)),
  endedAt: new Date(at(6)),
};
const surroundings: AttachmentContext = { workerIndex: 5, shard: null, bandwidthBytes: 70 };

function use(
  sessionId: string,
  observedBytes: number | null,
  infrastructureFailure: string | null = null,
  proxied: [proxiedBytes: number, proxiedSentBytes: number] | null = null,
): BrowserUse {
  const browser = { sessionId, leaseId: null, poolId: null, servedBy: null, reused: false };
  const [proxiedBytes = null, proxiedSentBytes = null] = proxied ?? [];
  return { browser, observedBytes, proxiedBytes, proxiedSentBytes, savedMs: 0, infrastructureFailure };
}

function attached(given: BrowserUse, more: Partial<AttachmentContext> = {}) {
  return attachmentOf(facts, given, { ...surroundings, ...more });
}

test('has the same facts in entry and attachment', () => {
  const given = use('s1', 12, 'was lost', [9, 2]);
  const record = testRecordOf(facts, given);
  expect(record).toMatchObject({ title: 'group › a test', file: 'tests/deep/a.spec.ts', startedAt: at(4), retry: 2 });
  const attachment = attached(given);
  expect(hostedBrowserAttachment.parse(attachment)).toEqual(attachment);
  for (const [key, value] of Object.entries(record))
    if (key in attachment) expect(attachment).toHaveProperty(key, value);
});

test('combines several browsers: names the last, sums up known bytes, reports the first loss', () => {
  expect(combinedUse([])).toBeNull();
  expect(combinedUse([use('s1', null)])).toEqual(use('s1', null));
  expect(combinedUse([use('s1', 5), use('s2', null, 'first'), use('s3', 7, 'second')])).toEqual(use('s3', 12, 'first'));
  const proxied = [use('s1', 0, null, [9, 2]), use('s2', 0), use('s3', 0, null, [0, 0])];
  expect(combinedUse(proxied)).toEqual(use('s3', 0, null, [9, 2]));
});

test('reads an attachment unchanged, and rejects other versions', () => {
  const attachment = attached(use('s1', 12));
  expect(readAttachment(Buffer.from(JSON.stringify(attachment)))).toEqual(attachment);
  for (const body of ['', '{"schema":1}', JSON.stringify({ ...attachment, schema: 2 })])
    expect(readAttachment(Buffer.from(body))).toBeNull();
});

test('builds a session from its tests', () => {
  const served = (workerIndex: number, bandwidthBytes: number | null, lost: string | null) => {
    const given = use('s1', 10, lost);
    return { test: testRecordOf(facts, given), attachment: attached(given, { workerIndex, bandwidthBytes }) };
  };
  expect(sessionFromTests([served(1, null, null), served(2, 90, 'lost'), served(2, 70, null)])).toMatchObject({
    sessionId: 's1',
    source: 'session',
    startedAt: at(4),
    workersServed: 2,
    testsServed: 3,
    observedBytes: 30,
    bandwidthBytes: 90,
    infrastructureFailures: ['lost'],
    endedAt: null,
    waitMs: null,
  });
});
