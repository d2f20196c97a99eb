import type { TestInfo } from '@playwright/test';
import type { RecordedConnection } from '../../../clients/shared/connection/leased-connection.ts';
import type { HeldBrowser, HeldTest, WorkerHolds } from '../../../clients/shared/hold/holds.ts';
import { type RecordSink, TestUse } from '../../../clients/shared/test-use.ts';
import { notify } from '../../../common/text/notify.ts';
import { ATTACHMENT_NAME, keyOf, type TestFacts } from '../../../record/test-record.ts';
import { wasHook } from './hook-or-test.ts';

/** A test that runs, or one of its hooks does. */
interface OpenTest {
  testInfo: TestInfo;
  use: TestUse;
  attached: boolean;
  /** Set when it has failed and is put on hold. */
  failureHold: Promise<void> | null;
  /** How many fixtures have begun it. Those of the config and of the test file may both run. */
  depth: number;
}

/** Records which hosted browser each test of one Playwright worker used. One test runs at a time. */
export class Recorder {
  readonly #tests = new WeakMap<TestInfo, OpenTest>();
  #current: OpenTest | null = null;

  /**
   * A test begins, or one of its `beforeAll` hooks, which get the same `testInfo` before the test does.
   * @param connection the browser that is already connected
   * @param inUse whether it has open contexts, such as one for a page that the tests of a file share
   */
  begin(testInfo: TestInfo, connection: RecordedConnection | null, inUse: boolean): void {
    const test = this.#tests.get(testInfo) ?? {
      testInfo,
      use: new TestUse(),
      attached: false,
      failureHold: null,
      depth: 0,
    };
    this.#tests.set(testInfo, test);
    this.#current = test;
    test.depth += 1;
    if (test.depth === 1) test.use.begin(connection, inUse);
  }

  /** Whether a fixture has already begun this test, or the hook that has its `testInfo`. */
  isRunning(testInfo: TestInfo): boolean {
    return (this.#tests.get(testInfo)?.depth ?? 0) > 0;
  }

  /** Timeout of the running test in ms (0: none); null between tests. */
  get testTimeout(): number | null {
    return this.#current?.testInfo.timeout ?? null;
  }

  /** Whether the running test has failed. Its pages may still be open. */
  get hasFailed(): boolean {
    const { status, expectedStatus } = this.#current?.testInfo ?? {};
    return status !== expectedStatus;
  }

  /** The running test, to put it on hold; null between tests. */
  get held(): HeldTest | null {
    return this.#current && heldTest(this.#current.testInfo, this.#current.use);
  }

  /** The running test has failed, and its pages are about to close. Resolves when they may. */
  async holdFailed(browser: HeldBrowser, holds: WorkerHolds): Promise<void> {
    const test = this.#current;
    if (!test || test.testInfo.status === 'interrupted') return;
    test.use.endFilm();
    test.failureHold ??= holds.holdFailed(browser, heldTest(test.testInfo, test.use));
    await test.failureHold;
  }

  /** ID of the running try, or of the test whose hook runs; undefined between tests. */
  get runningTry(): string | undefined {
    const test = this.#current?.testInfo;
    return test && keyOf({ id: test.testId, retry: test.retry });
  }

  /** Warns the user about the running test, in its annotations and on the terminal. */
  warn(text: string): void {
    const annotations = this.#current?.testInfo.annotations ?? [];
    if (annotations.some(({ description }) => description === text)) return;
    annotations.push({ type: 'warning', description: text });
    notify(`${this.#current?.testInfo.title ?? ''}: ${text}`);
  }

  /** See {@link TestUse.addUnreachable}. */
  addUnreachable(text: string): void {
    this.#current?.use.addUnreachable(text);
  }

  /** Playwright fails on what the running test's browser sends: no other test may use that browser. */
  clientFailed(failure: string): void {
    this.#current?.use.lastUsed()?.markBroken(failure);
  }

  /** The running test opens a context on this connection. */
  uses(connection: RecordedConnection): void {
    this.#current?.use.uses(connection);
  }

  /** See {@link TestUse.mayHaveUsed}. */
  mayHaveUsed(connection: RecordedConnection): void {
    this.#current?.use.mayHaveUsed(connection);
  }

  /**
   * The test's contexts are closed. Attaches its record if it used a browser. If it has failed because its browser was
   * lost, or its pages did not reach a server or file of this machine, that is its first error: it caused the others.
   */
  async end(testInfo: TestInfo, sink: RecordSink | null): Promise<void> {
    const test = this.#tests.get(testInfo);
    if (!test) return;
    test.depth -= 1;
    if (test.depth > 0) return;
    const isUsed = test.use.hasUsedBrowser();
    this.#current = null;
    // The use of a hook counts for its test. If the record is attached, this was one of its `afterAll` hooks.
    if (wasHook(testInfo) || test.attached || !isUsed || !sink) return;
    await this.#attach(test, sink);
  }

  /**
   * The worker ends. Records a test that timed out before its fixtures could end, because Playwright then skips their
   * teardown.
   */
  async endUnfinished(sink: RecordSink): Promise<void> {
    const test = this.#current;
    // A test without an error is still running and closed the browser itself.
    if (!test || test.attached || test.testInfo.errors.length === 0 || !test.use.hasUsedBrowser()) return;
    await this.#attach(test, sink);
  }

  async #attach(test: OpenTest, sink: RecordSink): Promise<void> {
    test.attached = true;
    const { testInfo, use } = test;
    const { workerIndex, config, errors } = testInfo;
    const facts = testFactsOf(testInfo, use.startedAt);
    const end = { facts, failed: errors.length > 0, workerIndex, shard: config.shard };
    const ended = await use.end(end, sink);
    if (!ended) return;
    const { attachment, error, film } = ended;
    if (error) errors.unshift({ message: String(error) });
    testInfo.annotations.push({ type: ATTACHMENT_NAME, description: attachment.sessionId });
    await testInfo.attach(ATTACHMENT_NAME, {
      body: JSON.stringify(attachment, null, 2),
      contentType: 'application/json',
    });
    // Loaded here, because few tests have one. Without it, a test is still a test.
    if (film.length > 0) {
      const { attachFilm } = await import('./film-attachment.ts');
      await attachFilm(testInfo, facts, film, sink).catch((reason) =>
        notify(`no film of ${testInfo.title}: ${reason}`),
      );
    }
  }
}

/** A test of Playwright's as what puts it on hold needs it. */
function heldTest(testInfo: TestInfo, use: TestUse): HeldTest {
  return {
    title: testInfo.titlePath.slice(1).join(' › '),
    recordHold: (reason) => use.recordHold(reason),
    allow: (ms) => allow(testInfo, ms),
  };
}

/** Gives a test, or its running hook or fixture, more time. The returned function takes back the unused part. */
function allow(testInfo: TestInfo, ms: number): () => void {
  const before = testInfo.timeout;
  const since = performance.now();
  if (before === 0) return () => undefined;
  testInfo.setTimeout(before + ms);
  return () => {
    // A hook or a fixture with a separate timeout, which cannot be read, keeps what it has got.
    if (testInfo.timeout !== before + ms) return;
    testInfo.setTimeout(before + Math.ceil(performance.now() - since));
  };
}

/** A test's data in its worker at its end, before a reporter can change the outcome. */
function testFactsOf(testInfo: TestInfo, startedAt: Date): TestFacts {
  // Until its hooks and fixtures have ended, a test has no final status. An error so far counts as a failure.
  const status = testInfo.status ?? (testInfo.errors.length > 0 ? 'failed' : 'passed');
  return {
    id: testInfo.testId,
    titles: testInfo.titlePath.slice(1),
    file: testInfo.file,
    rootDir: testInfo.config.rootDir,
    line: testInfo.line,
    project: testInfo.project.name,
    parallelIndex: testInfo.parallelIndex,
    retry: testInfo.retry,
    status,
    ok: status === testInfo.expectedStatus,
    startedAt,
    endedAt: new Date(),
  };
}
