import type { TestCase, TestResult } from '@playwright/test/reporter';
import { readAttachment } from '../record/attachment.ts';
import { type RunRecord, type SessionRecord, type TestRecord, testRecord } from '../record/run-record.ts';
import { keyOf, type ServedTest, sessionFromTests, withTotals } from '../record/session-record.ts';
import { ATTACHMENT_NAME, type TestFacts, testRecordOf } from '../record/test-record.ts';

/** Collects how the tests ended: the reporter alone has the last word on that, and alone hears of shards in blobs. */
export class TestResults {
  readonly #seen = new Map<string, TestRecord>();
  /** Those that used a hosted browser, with their attachments. */
  readonly #served = new Map<string, ServedTest>();

  readonly #rootDir: string;

  /** @param rootDir of the config: files are named from there */
  constructor(rootDir: string) {
    this.#rootDir = rootDir;
  }

  /** A try of a test is over. */
  add(testCase: TestCase, result: TestResult): void {
    const body = result.attachments.find(({ name }) => name === ATTACHMENT_NAME)?.body;
    const attachment = body ? readAttachment(body) : null;
    const { observedBytes = null, infrastructureFailure = null } = attachment ?? {};
    const facts = testFactsOf(testCase, result, this.#rootDir);
    // What it saved is not in its attachment.
    const { data: test } = testRecord.safeParse(
      testRecordOf(facts, { observedBytes, infrastructureFailure, savedMs: 0 }),
    );
    // A blob from elsewhere may hold what no run writes.
    if (!test) return;
    this.#seen.set(keyOf(test), test);
    if (attachment) this.#served.set(keyOf(test), { test, attachment });
  }

  /** The record with what is known here: final statuses and times, and tests that the broker did not hear of. */
  complete(record: RunRecord): RunRecord {
    const recorded = new Set(record.sessions.flatMap(({ tests }) => tests.map(keyOf)));
    const missed = [...this.#served.values()].filter(({ test }) => !recorded.has(keyOf(test)));
    const sessions = record.sessions.map((session) => {
      const known = session.tests.map((test) => withFinalWord(test, this.#seen.get(keyOf(test))));
      const added = missed.filter(({ attachment }) => attachment.sessionId === session.sessionId);
      return withTotals({ ...session, tests: [...known, ...added.map(({ test }) => test)] });
    });
    return { ...record, sessions };
  }

  /**
   * What the attachments alone tell: all there is in `playwright merge-reports`, and after a broker that left no
   * record. Null when no test used a hosted browser.
   */
  fromAttachments(): RunRecord | null {
    const served = [...this.#served.values()];
    if (served.length === 0) return null;
    return {
      schema: 1,
      runId: null,
      runner: 'playwright',
      service: null,
      chromiums: [],
      shard: null,
      startedAt: served.map(({ attachment }) => attachment.startedAt).sort()[0] ?? '',
      endedAt:
        served
          .map(({ test }) => test.endedAt)
          .sort()
          .at(-1) ?? null,
      sessions: sessionsOf(served),
      leaseFailures: [],
      balance: null,
      merged: [],
    };
  }
}

function sessionsOf(served: readonly ServedTest[]): SessionRecord[] {
  const sessions = new Map<string, [ServedTest, ...ServedTest[]]>();
  for (const one of served) {
    const { sessionId } = one.attachment;
    const known = sessions.get(sessionId);
    if (known) known.push(one);
    else sessions.set(sessionId, [one]);
  }
  return [...sessions.values()].map((tests) => sessionFromTests(tests));
}

function withFinalWord(test: TestRecord, seen: TestRecord | undefined): TestRecord {
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
