import { relative } from 'node:path';
import type { HostedBrowserAttachment } from './attachment.ts';
import { MAX_HOLDS, recordedText, recordedTime } from './bounds.ts';
import type { HoldRecord, TestRecord } from './run-record.ts';

/** Name of the annotation and the attachment of every test that used a hosted browser. */
export const ATTACHMENT_NAME = 'hosted-browser';
/** Name of the annotation of a test that started a browser of this machine itself, with the call and its place. */
export const LOCAL_BROWSER = 'local-browser';

/** The records of a test: one entry in each session that it used, and one attachment. */

/** A time in which a test waits for a person. */
export interface OpenHold extends Pick<HoldRecord, 'end' | 'reason'> {
  startedAt: Date;
  /** Null while it waits. */
  endedAt: Date | null;
}

/** The fields of a test's record that features fill in. */
export interface RecordedByFeatures {
  /** Directory of its evidence if it has failed, relative to the runner's root directory. */
  evidence: string | null;
  /** When it was on hold. */
  holds: OpenHold[];
}

/** A try of a test, as its runner reports it. */
export interface TestFacts
  extends Pick<TestRecord, 'id' | 'line' | 'project' | 'parallelIndex' | 'retry' | 'status' | 'ok'>,
    Partial<RecordedByFeatures> {
  /** Names of its groups, then its own. */
  titles: readonly string[];
  /** Absolute path. */
  file: string;
  /** Recorded file names are relative to it. */
  rootDir: string;
  startedAt: Date;
  endedAt: Date;
  /** What its first error says, as the runner has it; in no record. */
  error?: string | undefined;
}

/** Outcome of a test in one browser, or in all browsers that it used. */
export type TestOutcome = Pick<
  TestRecord,
  'observedBytes' | 'proxiedBytes' | 'proxiedSentBytes' | 'savedMs' | 'infrastructureFailure'
>;

/** A test's use of one browser. */
export interface BrowserUse extends TestOutcome {
  browser: Pick<HostedBrowserAttachment, 'sessionId' | 'leaseId' | 'poolId' | 'servedBy' | 'reused'>;
}

/** Where a test ran, and the service's figure for the last session that it used. */
export type AttachmentContext = Pick<HostedBrowserAttachment, 'workerIndex' | 'shard' | 'bandwidthBytes'>;

/** The entry of a test in `run.json`. */
export function testRecordOf(
  facts: TestFacts,
  { observedBytes, proxiedBytes, proxiedSentBytes, savedMs, infrastructureFailure }: TestOutcome,
): TestRecord {
  const { titles, file, rootDir, startedAt, endedAt, id, line, project, parallelIndex, retry, status, ok } = facts;
  const { evidence = null, holds = [] } = facts;
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
    startedAt: recordedTime(startedAt),
    endedAt: recordedTime(endedAt),
    observedBytes,
    proxiedBytes,
    proxiedSentBytes,
    savedMs,
    infrastructureFailure: infrastructureFailure === null ? null : recordedText(infrastructureFailure),
    evidence: ok || evidence === null ? null : recordedText(evidence),
    holds: holds.slice(0, MAX_HOLDS).map((hold) => ({
      reason: recordedText(hold.reason),
      startedAt: recordedTime(hold.startedAt),
      endedAt: recordedTime(hold.endedAt ?? endedAt),
      end: hold.end,
    })),
  };
}

/** The attachment of a test. @param use combined from all its browsers, see {@link combinedUse} */
export function attachmentOf(
  facts: TestFacts,
  { browser, ...outcome }: BrowserUse,
  { workerIndex, shard, bandwidthBytes }: AttachmentContext,
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
    proxiedBytes: test.proxiedBytes,
    proxiedSentBytes: test.proxiedSentBytes,
    bandwidthBytes,
    reused,
    infrastructureFailure: test.infrastructureFailure,
  };
}

/** Combines the use of all browsers of a test; null without any. Takes the last browser and the first loss. */
export function combinedUse(uses: readonly BrowserUse[]): BrowserUse | null {
  const last = uses.at(-1);
  if (!last) return null;
  return {
    browser: last.browser,
    observedBytes: sumOfKnown(uses, ({ observedBytes }) => observedBytes),
    proxiedBytes: sumOfKnown(uses, ({ proxiedBytes }) => proxiedBytes),
    proxiedSentBytes: sumOfKnown(uses, ({ proxiedSentBytes }) => proxiedSentBytes),
    savedMs: uses.reduce((sum, { savedMs }) => sum + savedMs, 0),
    infrastructureFailure: uses.find((use) => use.infrastructureFailure !== null)?.infrastructureFailure ?? null,
  };
}

/** The sum of the known figures; null if none is known. */
export function sumOfKnown<T>(items: readonly T[], figure: (item: T) => number | null): number | null {
  const known = items.flatMap((item) => figure(item) ?? []);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}

/** Key of a try of a test. Runners give a test a different ID in each project and repetition. */
export function keyOf({ id, retry }: Pick<TestRecord, 'id' | 'retry'>): string {
  return `${id} ${retry}`;
}
