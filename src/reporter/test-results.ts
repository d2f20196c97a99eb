import { relative } from 'node:path';
import type { TestCase, TestResult } from '@playwright/test/reporter';
import { ATTACHMENT_NAME, type HostedBrowserAttachment, hostedBrowserAttachment } from '../record/attachment.ts';
import type { RunRecord, SessionRecord, TestRecord } from '../record/run-record.ts';

/** A try of a test as the reporter sees it, with its attachment where it used a hosted browser. */
interface SeenResult {
  test: TestRecord;
  attachment: HostedBrowserAttachment | null;
}

type WithBrowser = SeenResult & { attachment: HostedBrowserAttachment };

/** Collects how the tests ended: the reporter alone has the last word on that, and alone hears of shards in blobs. */
export class TestResults {
  readonly #seen = new Map<string, SeenResult>();

  readonly #rootDir: string;

  /** @param rootDir of the config: files are named from there */
  constructor(rootDir: string) {
    this.#rootDir = rootDir;
  }

  add(test: TestCase, result: TestResult): void {
    const attachment = attachmentOf(result);
    const seen = { test: testRecordOf(test, result, attachment, this.#rootDir), attachment };
    this.#seen.set(keyOf(seen.test), seen);
  }

  /** The record with what is known here: final statuses and times, and tests that the broker did not hear of. */
  complete(record: RunRecord): RunRecord {
    const recorded = new Set(record.sessions.flatMap(({ tests }) => tests.map(keyOf)));
    const sessions = record.sessions.map((session) => {
      const known = session.tests.map((test) => {
        const seen = this.#seen.get(keyOf(test))?.test;
        return seen
          ? { ...test, status: seen.status, ok: seen.ok, startedAt: seen.startedAt, endedAt: seen.endedAt }
          : test;
      });
      const missed = this.#withBrowser().filter(
        ({ test, attachment }) => attachment.sessionId === session.sessionId && !recorded.has(keyOf(test)),
      );
      return withTests({ ...session, tests: known }, missed);
    });
    return { ...record, sessions };
  }

  /**
   * What the attachments alone tell: all there is in `playwright merge-reports`, and after a broker that left no
   * record. Null when no test used a hosted browser.
   */
  fromAttachments(): RunRecord | null {
    const sessions = new Map<string, WithBrowser[]>();
    for (const one of this.#withBrowser()) {
      const { sessionId } = one.attachment;
      sessions.set(sessionId, [...(sessions.get(sessionId) ?? []), one]);
    }
    if (sessions.size === 0) return null;
    return {
      schema: 1,
      runId: null,
      service: null,
      chromiums: [],
      shard: null,
      startedAt:
        this.#withBrowser()
          .map(({ attachment }) => attachment.startedAt)
          .sort()[0] ?? '',
      endedAt:
        this.#withBrowser()
          .map(({ test }) => test.endedAt)
          .sort()
          .at(-1) ?? null,
      sessions: [...sessions.values()].flatMap(sessionFrom),
      leaseFailures: [],
      balance: null,
      merged: [],
    };
  }

  #withBrowser(): WithBrowser[] {
    return [...this.#seen.values()].flatMap(({ test, attachment }) => (attachment ? [{ test, attachment }] : []));
  }
}

/** The same test has one ID in each project, and each repetition one of its own. */
function keyOf({ id, retry }: TestRecord): string {
  return `${id} ${retry}`;
}

/** Null when there is none, or not one of this version. */
function attachmentOf(result: TestResult): HostedBrowserAttachment | null {
  const body = result.attachments.find(({ name }) => name === ATTACHMENT_NAME)?.body;
  if (!body) return null;
  try {
    return hostedBrowserAttachment.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}

function testRecordOf(
  test: TestCase,
  result: TestResult,
  attachment: HostedBrowserAttachment | null,
  rootDir: string,
): TestRecord {
  const [, project = '', , ...title] = test.titlePath();
  return {
    id: test.id,
    title: title.join(' › '),
    file: relative(rootDir, test.location.file).replaceAll('\\', '/'),
    line: test.location.line,
    project,
    parallelIndex: result.parallelIndex,
    retry: result.retry,
    status: result.status,
    ok: result.status === test.expectedStatus,
    startedAt: result.startTime.toISOString(),
    endedAt: new Date(result.startTime.getTime() + Math.max(0, result.duration)).toISOString(),
    observedBytes: attachment?.observedBytes ?? null,
    infrastructureFailure: attachment?.infrastructureFailure ?? null,
  };
}

/** A session with tests that its broker did not hear of, in every figure that tests make. */
function withTests(session: SessionRecord, missed: readonly WithBrowser[]): SessionRecord {
  const tests = missed.map(({ test }) => test);
  return {
    ...session,
    testsServed: session.testsServed + tests.length,
    observedBytes: session.observedBytes + tests.reduce((sum, { observedBytes }) => sum + (observedBytes ?? 0), 0),
    infrastructureFailures: [
      ...session.infrastructureFailures,
      ...tests.flatMap(({ infrastructureFailure }) => infrastructureFailure ?? []),
    ],
    tests: [...session.tests, ...tests],
  };
}

/** One session by the tests it served. What happened before and after them is not in their attachments. */
function sessionFrom(served: WithBrowser[]): SessionRecord[] {
  const attachments = served.map(({ attachment }) => attachment);
  const [first] = attachments;
  if (!first) return [];
  const { sessionId, leaseId, poolId, servedBy, project, parallelIndex, shard } = first;
  const figures = attachments.flatMap(({ bandwidthBytes }) => bandwidthBytes ?? []);
  const session: SessionRecord = {
    sessionId,
    leaseId,
    poolId,
    servedBy,
    source: leaseId === null ? 'session' : 'pool',
    type: null,
    project,
    parallelIndex,
    shard,
    requestedAt: null,
    startedAt: attachments.map(({ startedAt }) => startedAt).sort()[0] ?? first.startedAt,
    lentAt: null,
    endingAt: null,
    endedAt: null,
    startMs: null,
    waitMs: null,
    endReason: null,
    endConfirmed: null,
    testsServed: served.length,
    workersServed: new Set(attachments.map(({ workerIndex }) => workerIndex)).size,
    observedBytes: attachments.reduce((sum, { observedBytes }) => sum + (observedBytes ?? 0), 0),
    bridgedBytes: 0, // not in them either
    // Figures that the service gave while the session ran: the last one is the highest.
    bandwidthBytes: figures.length > 0 ? Math.max(...figures) : null,
    infrastructureFailures: attachments.flatMap(({ infrastructureFailure }) => infrastructureFailure ?? []),
    tests: served.map(({ test }) => test),
  };
  return [session];
}
