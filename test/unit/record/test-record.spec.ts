import { expect, test } from '@playwright/test';
import { hostedBrowserAttachment, readAttachment } from '../../../src/record/attachment.ts';
import { sessionFromTests } from '../../../src/record/session-record.ts';
import {
  type AttachmentSurroundings,
  attachmentOf,
  type BrowserUse,
  testRecordOf,
  usesTogether,
} from '../../../src/record/test-record.ts';
import { at } from '../../support/unit/records.ts';

/** A test's line in the record and its attachment are made of the same facts. */

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
const surroundings: AttachmentSurroundings = { workerIndex: 5, shard: null, bandwidthBytes: 70 };

function use(sessionId: string, observedBytes: number | null, infrastructureFailure: string | null = null): BrowserUse {
  const browser = { sessionId, leaseId: null, poolId: null, servedBy: null, reused: false };
  return { browser, observedBytes, savedMs: 0, infrastructureFailure };
}

function attached(given: BrowserUse, more: Partial<AttachmentSurroundings> = {}) {
  return attachmentOf(facts, given, { ...surroundings, ...more });
}

test('what both tell is the same', () => {
  const given = use('s1', 12, 'was lost');
  const record = testRecordOf(facts, given);
  expect(record).toMatchObject({ title: 'group › a test', file: 'tests/deep/a.spec.ts', startedAt: at(4), retry: 2 });
  const attachment = attached(given);
  expect(hostedBrowserAttachment.parse(attachment)).toEqual(attachment);
  for (const [key, value] of Object.entries(record))
    if (key in attachment) expect(attachment).toHaveProperty(key, value);
});

test('several browsers together: the last one is named, bytes are summed up as far as known, the first loss is told', () => {
  expect(usesTogether([])).toBeNull();
  expect(usesTogether([use('s1', null)])).toEqual(use('s1', null));
  expect(usesTogether([use('s1', 5), use('s2', null, 'first'), use('s3', 7, 'second')])).toEqual(
    use('s3', 12, 'first'),
  );
});

test('an attachment is read as it was written; another version is none of ours', () => {
  const attachment = attached(use('s1', 12));
  expect(readAttachment(Buffer.from(JSON.stringify(attachment)))).toEqual(attachment);
  for (const body of ['', '{"schema":1}', JSON.stringify({ ...attachment, schema: 2 })])
    expect(readAttachment(Buffer.from(body))).toBeNull();
});

test('a session by its tests alone', () => {
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
