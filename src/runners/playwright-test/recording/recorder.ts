import { rm, writeFile } from 'node:fs/promises';
import type { TestInfo } from '@playwright/test';
import type { RecordedConnection } from '../../../clients/shared/connection/leased-connection.ts';
import { type RecordSink, TestUse } from '../../../clients/shared/test-use.ts';
import type { WorkerFeatures } from '../../../clients/shared/worker-features.ts';
import { monotonicNow } from '../../../common/clock.ts';
import { notify } from '../../../common/text/notify.ts';
import type { FeatureTest } from '../../../features/feature.ts';
import { ATTACHMENT_NAME, keyOf, LOCAL_BROWSER, type TestFacts } from '../../../record/test-record.ts';
import { wasHook } from './hook-or-test.ts';

/** A test that runs, or one of its hooks does. */
interface OpenTest {
  testInfo: TestInfo;
  use: TestUse;
  shown: FeatureTest;
  attached: boolean;
  /** How many fixtures have begun it. Those of the config and of the test file may both run. */
  depth: number;
  /** When it, or its running hook, began: ms since the process has started. */
  since: number;
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
    const test = this.#tests.get(testInfo) ?? opened(testInfo);
    this.#tests.set(testInfo, test);
    this.#current = test;
    test.depth += 1;
    if (test.depth > 1) return;
    test.since = monotonicNow();
    test.use.begin(connection, inUse);
  }

  /** Whether a fixture has already begun this test, or the hook that has its `testInfo`. */
  isRunning(testInfo: TestInfo): boolean {
    return (this.#tests.get(testInfo)?.depth ?? 0) > 0;
  }

  /** Timeout of the running test in ms (0: none); null between tests. */
  get testTimeout(): number | null {
    return this.#current?.testInfo.timeout ?? null;
  }

  /** ms until the running test times out; null between tests, and without a timeout. */
  get timeLeft(): number | null {
    const timeout = this.testTimeout ?? 0;
    return this.#current && timeout > 0 ? this.#current.since + timeout - monotonicNow() : null;
  }

  /** Returns the data of the test that runs now, as it is when it is asked for; null between tests. */
  get runningFacts(): () => TestFacts | null {
    const test = this.#current;
    return () => test && testFactsOf(test.testInfo, test.use.startedAt);
  }

  /** The running test, as features see it; null between tests. */
  get running(): FeatureTest | null {
    return this.#current?.shown ?? null;
  }

  /** A context of the running test is about to close. Resolves when it may. */
  async closing(features: WorkerFeatures): Promise<void> {
    const { testInfo, shown } = this.#current ?? {};
    if (!shown || testInfo?.status === testInfo?.expectedStatus || testInfo?.status === 'interrupted') return;
    await features.testFailed(shown);
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

  /** The running test starts a browser of this machine; the reporter reads the annotation. */
  launched(call: string): void {
    this.#current?.testInfo.annotations.push({ type: LOCAL_BROWSER, description: call });
  }

  /** See {@link TestUse.addUnreachable}. */
  addUnreachable(text: string): void {
    this.#current?.use.addUnreachable(text);
  }

  /** Playwright fails on what the running test's browser sends: no other test may use that browser. */
  clientFailed(failure: string): void {
    this.#current?.use.connections().at(-1)?.markBroken(failure);
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
  async end(testInfo: TestInfo, sink: RecordSink | null, features: WorkerFeatures | null = null): Promise<void> {
    const test = this.#tests.get(testInfo);
    if (!test) return;
    test.depth -= 1;
    if (test.depth > 0) return;
    const isUsed = test.use.hasUsedBrowser();
    this.#current = null;
    // The use of a hook counts for its test. If the record is attached, this was one of its `afterAll` hooks.
    if (wasHook(testInfo) || test.attached || !isUsed || !sink) return;
    await this.#attach(test, sink, features);
  }

  /**
   * The worker ends. Records a test that timed out before its fixtures could end, because Playwright then skips their
   * teardown.
   */
  async endUnfinished(sink: RecordSink, features: WorkerFeatures | null = null): Promise<void> {
    const test = this.#current;
    // A test without an error is still running and closed the browser itself.
    if (!test || test.attached || test.testInfo.errors.length === 0 || !test.use.hasUsedBrowser()) return;
    await this.#attach(test, sink, features);
  }

  async #attach(test: OpenTest, sink: RecordSink, features: WorkerFeatures | null): Promise<void> {
    test.attached = true;
    const { testInfo, use, shown } = test;
    const { workerIndex, config, errors } = testInfo;
    const facts = testFactsOf(testInfo, use.startedAt);
    const end = { facts, failed: errors.length > 0, workerIndex, shard: config.shard };
    const kept = features?.testEnded(shown, facts);
    const ended = await use.end(end, sink);
    if (!ended) return;
    const { attachment, error } = ended;
    if (error) errors.unshift({ message: String(error) });
    testInfo.annotations.push({ type: ATTACHMENT_NAME, description: attachment.sessionId });
    await testInfo.attach(ATTACHMENT_NAME, {
      body: JSON.stringify(attachment, null, 2),
      contentType: 'application/json',
    });
    await kept;
  }
}

function opened(testInfo: TestInfo): OpenTest {
  const use = new TestUse();
  return { testInfo, use, shown: forFeatures(testInfo, use), attached: false, depth: 0, since: 0 };
}

function forFeatures(testInfo: TestInfo, use: TestUse): FeatureTest {
  const { testId: id, titlePath, file, project, config, retry } = testInfo;
  return {
    ...{ key: keyOf({ id, retry }), titles: titlePath.slice(1), file, retry, project: project.name },
    startedAt: use.startedAt,
    since: 0,
    root: config.rootDir,
    directory: project.outputDir,
    fields: use.fields,
    // It shows them as attachments.
    notes: [],
    connections: () => use.connections(),
    context: () => null,
    others: () => [],
    allow: (ms) => allow(testInfo, ms),
    keep: async (name, html) => {
      const path = testInfo.outputPath(`${name}.html`);
      await writeFile(path, html);
      // Playwright copies it.
      await testInfo.attach(name, { path, contentType: 'text/html' });
      await rm(path, { force: true });
    },
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
    error: testInfo.errors[0]?.message ?? testInfo.errors[0]?.value,
  };
}
