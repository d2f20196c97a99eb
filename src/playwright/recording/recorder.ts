import type { TestInfo } from '@playwright/test';
import { notify } from '../../common/text/notify.ts';
import { testTry } from '../../common/text/test-try.ts';
import type { PoolwrightError } from '../../errors.ts';
import { ATTACHMENT_NAME } from '../../record/test-record.ts';
import type { RecordedLink } from '../../worker/link/lease-link.ts';
import { lossError } from '../../worker/link/loss.ts';
import { unreachedError } from '../../worker/link/unreached.ts';
import { type RecordSink, UseRecords } from '../../worker/use-records.ts';

import { testFactsOf } from './test-facts.ts';

interface OpenRecord {
  testInfo: TestInfo;
  startedAt: Date;
  /** Bytes each link had moved when this test began to use it, newest link last. */
  links: Map<RecordedLink, number>;
  /** The link there was when it began, and what had passed over it; null: none. */
  before: { link: RecordedLink; bytes: number; commands: number; inUse: boolean } | null;
  used: boolean;
  attached: boolean;
  /** What its pages did not reach, in sentences. */
  unreached: Set<string>;
  /** How many fixtures have begun it: the config's and the test file's may both run. */
  depth: number;
}

/** Watches one worker's tests and puts on record which browser served each. One test runs at a time. */
export class Recorder {
  readonly #records = new WeakMap<TestInfo, OpenRecord>();
  #current: OpenRecord | null = null;
  readonly #uses = new UseRecords();

  /**
   * A test begins, or one of its `beforeAll` hooks (those get the same `testInfo` before the test itself does).
   * `link`: the browser that is connected already; `inUse`: whether it has open contexts, such as a page that the
   * tests of a file share.
   */
  begin(testInfo: TestInfo, link: RecordedLink | null, inUse: boolean): void {
    const record = this.#records.get(testInfo) ?? {
      testInfo,
      startedAt: new Date(),
      links: new Map(),
      before: null,
      used: false,
      attached: false,
      unreached: new Set(),
      depth: 0,
    };
    this.#records.set(testInfo, record);
    this.#current = record;
    record.depth += 1;
    if (!link || record.depth > 1) return;
    record.before = { link, bytes: link.observedBytes() ?? 0, commands: link.commands(), inUse };
  }

  /** Whether one of the fixtures around this test, or around the hook that has its `testInfo`, has begun it. */
  isRunning(testInfo: TestInfo): boolean {
    return (this.#records.get(testInfo)?.depth ?? 0) > 0;
  }

  /** Timeout of the running test in ms (0: none); null between tests. */
  get testTimeout(): number | null {
    return this.#current?.testInfo.timeout ?? null;
  }

  /** The running try, or that of the test whose hook runs; undefined between tests. */
  get runningTry(): string | undefined {
    const test = this.#current?.testInfo;
    return test && testTry(test.testId, test.retry);
  }

  /** The running test shall be told this: on record, and on the terminal. */
  warn(text: string): void {
    const annotations = this.#current?.testInfo.annotations ?? [];
    if (annotations.some(({ description }) => description === text)) return;
    annotations.push({ type: 'warning', description: text });
    notify(`${this.#current?.testInfo.title ?? ''}: ${text}`);
  }

  /** A page of the running test did not reach something of this machine: if the test fails, it shall say so. */
  unreached(text: string): void {
    this.#current?.unreached.add(text);
  }

  /** The running test opens a context on this link. */
  uses(link: RecordedLink): void {
    if (!this.#current) return;
    noteSharedUse(this.#current);
    this.#current.used = true;
    if (!this.#current.links.has(link)) this.#current.links.set(link, link.observedBytes() ?? 0);
  }

  /** The running test may have used this link, past the handle, from its beginning on. */
  mayHaveUsed(link: RecordedLink): void {
    if (!this.#current) return;
    const { before, links } = this.#current;
    if (before?.link === link) {
      before.inUse = true;
      return;
    }
    this.#current.used = true;
    if (!links.has(link)) links.set(link, 0);
  }

  /**
   * The test's contexts are closed: attaches its record, if it used a browser. Returns the error that the test shall
   * have beside its own, when it failed and its browser was lost, or its pages did not reach something of this machine.
   */
  async end(testInfo: TestInfo, sink: RecordSink | null): Promise<PoolwrightError | null> {
    const record = this.#records.get(testInfo);
    if (!record) return null;
    record.depth -= 1;
    if (record.depth > 0) return null;
    noteSharedUse(record);
    this.#current = null;
    // `duration` is zero until the test itself has run: this was a hook, and its use counts for the test to come.
    const hookOnly = testInfo.duration === 0 && testInfo.errors.length === 0;
    // Attached already: this was one of its `afterAll` hooks.
    if (hookOnly || record.attached || !record.used || !sink) return null;
    record.attached = true;
    return await this.#attach(record, sink);
  }

  /**
   * The worker ends. A test whose time was over before its fixtures could end (Playwright does not begin to end those
   * then) is put on record by what is known.
   */
  async endUnfinished(sink: RecordSink): Promise<void> {
    const record = this.#current;
    // Without an error it still runs, and closes the browser itself.
    if (!record || record.attached || record.testInfo.errors.length === 0) return;
    noteSharedUse(record);
    if (!record.used) return;
    record.attached = true;
    await this.#attach(record, sink);
  }

  async #attach(
    { testInfo, startedAt, links, unreached }: OpenRecord,
    sink: RecordSink,
  ): Promise<PoolwrightError | null> {
    const { workerIndex, config } = testInfo;
    const facts = testFactsOf(testInfo, startedAt);
    const recorded = await this.#uses.put(facts, links, { workerIndex, shard: config.shard }, sink);
    if (!recorded) return null;
    const { attachment, lost } = recorded;
    testInfo.annotations.push({ type: ATTACHMENT_NAME, description: attachment.sessionId });
    await testInfo.attach(ATTACHMENT_NAME, {
      body: JSON.stringify(attachment, null, 2),
      contentType: 'application/json',
    });
    // A test that passed all the same had done its work before.
    if (testInfo.errors.length === 0) return null;
    if (lost) return lossError(lost.link.lease, lost.failure);
    return unreached.size > 0 ? unreachedError(unreached) : null;
  }
}

/**
 * A context that was open when the test began (a page that the tests of a file share, or one that nobody closed) makes
 * it a test with a browser only when it gave the browser something to do: a forgotten page may still load something.
 */
function noteSharedUse(record: OpenRecord): void {
  const { before } = record;
  if (!before?.inUse || record.links.has(before.link) || before.link.commands() === before.commands) return;
  record.used = true;
  record.links = new Map([[before.link, before.bytes], ...record.links]);
}
