import type { TestCase, TestResult } from '@playwright/test/reporter';
import { readAttachment } from '../record/attachment.ts';
import { lostBrowsers } from '../record/failures.ts';
import { type RunRecord, type SessionRecord, type TestRecord, testRecord } from '../record/run-record.ts';
import { proxiedBytesOf, sessionFromTests, type TestWithAttachment, withTotals } from '../record/session-record.ts';
import { ATTACHMENT_NAME, keyOf, type TestFacts, testRecordOf } from '../record/test-record.ts';

/** Collects the final results of tests. Only the reporter gets them, and only it gets the shards of merged blobs. */
export class TestResults {
  readonly #results = new Map<string, TestRecord>();
  /** Tests that used a hosted browser, with their attachments. */
  readonly #withAttachment = new Map<string, TestWithAttachment>();
  readonly #rootDir: string;

  /** @param rootDir of the config; recorded file names are relative to it */
  constructor(rootDir: string) {
    this.#rootDir = rootDir;
  }

  /** A try of a test has ended. */
  add(testCase: TestCase, result: TestResult): void {
    const body = result.attachments.find(({ name }) => name === ATTACHMENT_NAME)?.body;
    const attachment = body ? readAttachment(body) : null;
    const { observedBytes = null, proxiedBytes = null, proxiedSentBytes = null } = attachment ?? {};
    const { infrastructureFailure = null } = attachment ?? {};
    const facts = testFactsOf(testCase, result, this.#rootDir);
    // The attachment does not contain the saved time.
    const { data: test } = testRecord.safeParse(
      testRecordOf(facts, { observedBytes, proxiedBytes, proxiedSentBytes, infrastructureFailure, savedMs: 0 }),
    );
    // A blob from an untrusted source may contain invalid values.
    if (!test) return;
    this.#results.set(keyOf(test), test);
    if (attachment) this.#withAttachment.set(keyOf(test), { test, attachment });
  }

  /** Adds to the record: final statuses and times, and tests that were not reported to the broker. */
  complete(record: RunRecord): RunRecord {
    const recorded = new Set(record.sessions.flatMap(({ tests }) => tests.map(keyOf)));
    const missed = [...this.#withAttachment.values()].filter(({ test }) => !recorded.has(keyOf(test)));
    const sessions = record.sessions.map((session) => {
      const known = session.tests.map((test) => withFinalStatus(test, this.#results.get(keyOf(test))));
      const added = missed.flatMap(({ attachment, test }) => (attachment.sessionId === session.sessionId ? test : []));
      const bridgedBytes = session.bridgedBytes + proxiedBytesOf(added);
      return withTotals({ ...session, bridgedBytes, tests: [...known, ...added] });
    });
    return { ...record, sessions };
  }

  /**
   * Builds a record from the attachments only, for `playwright merge-reports` and after a broker that left no record.
   * Null when no test used a hosted browser.
   */
  fromAttachments(): RunRecord | null {
    const served = [...this.#withAttachment.values()];
    if (served.length === 0) return null;
    const sessions = sessionsOf(served);
    return {
      schema: 1,
      runId: null,
      runner: 'playwright',
      service: null,
      chromiums: [],
      shard: null,
      browsers: null,
      startedAt: served.map(({ attachment }) => attachment.startedAt).sort()[0] ?? '',
      endedAt:
        served
          .map(({ test }) => test.endedAt)
          .sort()
          .at(-1) ?? null,
      sessions,
      leaseFailures: [],
      failures: lostBrowsers(sessions),
      balance: null,
      partition: null,
      work: null,
      merged: [],
    };
  }
}

function sessionsOf(served: readonly TestWithAttachment[]): SessionRecord[] {
  const sessions = new Map<string, [TestWithAttachment, ...TestWithAttachment[]]>();
  for (const one of served) {
    const { sessionId } = one.attachment;
    const known = sessions.get(sessionId);
    if (known) known.push(one);
    else sessions.set(sessionId, [one]);
  }
  return [...sessions.values()].map((tests) => sessionFromTests(tests));
}

function withFinalStatus(test: TestRecord, seen: TestRecord | undefined): TestRecord {
  if (!seen) return test;
  const { status, ok, startedAt, endedAt } = seen;
  return { ...test, status, ok, startedAt, endedAt };
}

function testFactsOf(test: TestCase, result: TestResult, rootDir: string): TestFacts {
  const [, project = '', , ...titles] = test.titlePath();
  return {
    id: test.id,
    titles,
    file: test.location.file,
    rootDir,
    line: test.location.line,
    project,
    parallelIndex: result.parallelIndex,
    retry: result.retry,
    status: result.status,
    ok: result.status === test.expectedStatus,
    startedAt: result.startTime,
    endedAt: new Date(result.startTime.getTime() + Math.max(0, result.duration)),
  };
}
