import { relative } from 'node:path';
import type { HostedBrowserAttachment } from './attachment.ts';
import { recordedMoment, recordedText } from './bounds.ts';
import type { TestRecord } from './run-record.ts';

/** Name of the annotation and of the attachment of every test that used a browser. */
export const ATTACHMENT_NAME = 'hosted-browser';

/** What a test leaves on record: a line with each session that it used, and one attachment of its own. */

/** A try of a test as its runner knows it. */
export interface TestFacts
  extends Pick<TestRecord, 'id' | 'line' | 'project' | 'parallelIndex' | 'retry' | 'status' | 'ok'> {
  /** Names of its groups and its own. */
  titles: readonly string[];
  /** Absolute path. */
  file: string;
  /** Files are named from there. */
  rootDir: string;
  startedAt: Date;
  endedAt: Date;
}

/** What became of a test in one browser, or in all that it used. */
export type TestOutcome = Pick<TestRecord, 'observedBytes' | 'savedMs' | 'infrastructureFailure'>;

/** A test's use of one browser. */
export interface BrowserUse extends TestOutcome {
  browser: Pick<HostedBrowserAttachment, 'sessionId' | 'leaseId' | 'poolId' | 'servedBy' | 'reused'>;
}

/** Where a test ran, and what the service says of the last session that it used. */
export type AttachmentSurroundings = Pick<HostedBrowserAttachment, 'workerIndex' | 'shard' | 'bandwidthBytes'>;

/** A test as `run.json` has it. */
export function testRecordOf(
  facts: TestFacts,
  { observedBytes, savedMs, infrastructureFailure }: TestOutcome,
): TestRecord {
  const { titles, file, rootDir, startedAt, endedAt, id, line, project, parallelIndex, retry, status, ok } = facts;
  return {
    id: recordedText(id),
    title: recordedText(titles.join(' › ')),
    file: recordedText(relative(rootDir, file).replaceAll('\\', '/')),
    line,
    project: recordedText(project),
    parallelIndex,
    retry,
    status,
    ok,
    startedAt: recordedMoment(startedAt),
    endedAt: recordedMoment(endedAt),
    observedBytes,
    savedMs,
    infrastructureFailure: infrastructureFailure === null ? null : recordedText(infrastructureFailure),
  };
}

/** A test's attachment. @param use of all its browsers, see {@link usesTogether} */
export function attachmentOf(
  facts: TestFacts,
  { browser, ...outcome }: BrowserUse,
  { workerIndex, shard, bandwidthBytes }: AttachmentSurroundings,
): HostedBrowserAttachment {
  const { sessionId, leaseId, poolId, servedBy, reused } = browser;
  const test = testRecordOf(facts, outcome);
  return {
    schema: 1,
    sessionId,
    leaseId,
    poolId,
    servedBy,
    project: test.project,
    workerIndex,
    parallelIndex: test.parallelIndex,
    shard,
    startedAt: test.startedAt,
    endedAt: test.endedAt,
    observedBytes: test.observedBytes,
    bandwidthBytes,
    reused,
    infrastructureFailure: test.infrastructureFailure,
  };
}

/**
 * What became of a test in all browsers that it used, in their order; null without any. The last one is named, and of
 * several losses the first. Without metering in any of them no bytes are known.
 */
export function usesTogether(uses: readonly BrowserUse[]): BrowserUse | null {
  const last = uses.at(-1);
  if (!last) return null;
  const metered = uses.flatMap(({ observedBytes }) => observedBytes ?? []);
  return {
    browser: last.browser,
    observedBytes: metered.length > 0 ? metered.reduce((sum, bytes) => sum + bytes, 0) : null,
    savedMs: uses.reduce((sum, { savedMs }) => sum + savedMs, 0),
    infrastructureFailure: uses.find((use) => use.infrastructureFailure !== null)?.infrastructureFailure ?? null,
  };
}
