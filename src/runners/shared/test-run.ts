import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { PuppeteerConnection } from '../../clients/puppeteer/connection.ts';
import { type HostedSession, hostedSessionOf } from '../../clients/shared/hosted-session.ts';
import { type EndedUse, type RecordSink, TestUse } from '../../clients/shared/test-use.ts';
import type { WorkerFeatures } from '../../clients/shared/worker-features.ts';
import { dateNow } from '../../common/clock.ts';
import type { FeatureTest } from '../../features/feature.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import type { TestRecord } from '../../record/run-record.ts';
import { keyOf, type TestFacts } from '../../record/test-record.ts';
import type { OpenContext, Scope } from './scope.ts';

export interface TestStart extends Pick<TestRecord, 'id' | 'line' | 'project' | 'retry'> {
  /** Names of its groups, then its own. */
  titles: readonly string[];
  /** Absolute path. */
  file: string;
  /** ms; 0: none. */
  timeout: number;
  /** See {@link FeatureTest.allow}. Missing: the runner has no way to do so. */
  allow?: FeatureTest['allow'];
}

/** The browser, context and session of a test. */
export interface HostedValues {
  browser: Browser;
  context: BrowserContext;
  session: HostedSession;
  /** The context's first page, opened on first use. */
  page(): Promise<Page>;
}

/** Where a test runs, and where its record goes. */
export interface WorkerContext {
  parallelIndex: number;
  workerIndex: number;
  /** Recorded file names are relative to it. */
  root: string;
  /** See {@link FeatureTest.directory}. */
  directory: string;
  shard: HostedBrowserAttachment['shard'];
  sink: RecordSink;
  features: WorkerFeatures;
}

/** The scope of a test, and of the tests that run at the same time. */
export interface TestScope {
  scope: Scope;
  /** Whether other tests use its pages after this one. */
  staysOpen: boolean;
  others(): BrowserContext[];
}

export interface EndedTest extends EndedUse {
  /** See {@link FeatureTest.notes}. */
  notes: readonly string[];
}

export type Outcome = Pick<TestFacts, 'error' | 'ok' | 'status'>;

/** One test from start to end. */
export class TestRun {
  readonly #test: TestStart;
  readonly #scope: TestScope;
  readonly #where: WorkerContext;
  readonly #use = new TestUse();
  readonly #shown: FeatureTest;
  #failure: Promise<void> | null = null;

  /** @param current the browser that is already connected */
  constructor(test: TestStart, scope: TestScope, where: WorkerContext, current: PuppeteerConnection | null) {
    this.#test = test;
    this.#scope = scope;
    this.#where = where;
    // Tests may share a page of a hook or of their file.
    this.#use.begin(current, true);
    this.#shown = this.#forFeatures();
    where.features.testBegan(this.#shown);
  }

  /** ID of the try. */
  get id(): string {
    return keyOf(this.#test);
  }

  /** See {@link TestUse.addUnreachable}. */
  addUnreachable(text: string): void {
    this.#use.addUnreachable(text);
  }

  /** Opens the test's context on first use. @throws LeaseError, ServiceError when no browser is available */
  async open(): Promise<HostedValues> {
    const open = await this.#scope.scope.open();
    this.#use.uses(open.connection);
    return hostedValuesOf(open, (reason) => this.hold(open.connection, reason));
  }

  get context(): BrowserContext | null {
    return this.#scope.scope.context;
  }

  /**
   * The test has failed, and its pages are still open. {@link finish} calls it. A runner calls it earlier if it knows
   * of the failure before the user's hooks run, which may close pages. Never rejects.
   */
  async failed(): Promise<void> {
    this.#failure ??= this.#where.features.testFailed(this.#shown);
    await this.#failure;
  }

  /** See {@link HostedSession.hold}. */
  async hold(connection: PuppeteerConnection, reason: string): Promise<void> {
    await this.#where.features.hold(connection, reason, this.#shown);
  }

  /** The test is over: its pages close, unless other tests use them. Never rejects. */
  async finish({ status, ok }: Outcome): Promise<void> {
    const { scope, staysOpen } = this.#scope;
    if (!ok && status !== 'interrupted') await this.failed();
    scope.lastTestEnd = dateNow();
    if (!staysOpen) await scope.close();
  }

  /** Records the test. Null when it used no hosted browser. Call once, after {@link finish}. */
  async end({ status, ok, error }: Outcome): Promise<EndedTest | null> {
    const { timeout: _timeout, allow: _allow, ...test } = this.#test;
    const { parallelIndex, workerIndex, root: rootDir, shard, sink, features } = this.#where;
    const times = { startedAt: this.#use.startedAt, endedAt: new Date(dateNow()) };
    const facts = { ...test, ...times, status, ok, error, rootDir, parallelIndex };
    const kept = features.testEnded(this.#shown, facts);
    const ended = await this.#use.end({ facts, failed: !ok, workerIndex, shard }, sink);
    await kept;
    return ended && { ...ended, notes: this.#shown.notes };
  }

  #forFeatures(): FeatureTest {
    const { titles, file, project, retry, id, allow } = this.#test;
    const { root, directory } = this.#where;
    const { scope, others } = this.#scope;
    const use = this.#use;
    const notes: string[] = [];
    return {
      ...{ key: this.id, titles, file, project, retry, root, directory, notes, others },
      startedAt: use.startedAt,
      since: scope.lastTestEnd,
      fields: use.fields,
      connections: () => use.connections(),
      context: () => scope.context,
      // The timeout of a test that has failed is over.
      allow: (ms) => (allow && !this.#failure ? allow(ms) : () => undefined),
      keep: async (name, html) => {
        const path = join(directory, name, keptFileName(titles, id, retry));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, html);
        notes.push(`${name}: ${relative(root, path)}`);
      },
    };
  }
}

export function hostedValuesOf({ connection, context, page }: OpenContext, hold: HostedSession['hold']): HostedValues {
  return { browser: connection.browser, context, session: hostedSessionOf(connection.lease, hold), page };
}

/** {@link failureNotes} as they follow the message of an error. */
export function failureText(ended: EndedTest): string {
  return failureNotes(ended)
    .map((note) => `(${note})`)
    .join('\n');
}

/** Notes on a failed test: which browser it had, and where to find what is kept of it. */
export function failureNotes({ attachment: { sessionId, poolId }, notes }: EndedTest): string[] {
  return [`hosted browser: session ${sessionId}${poolId === null ? '' : ` of pool ${poolId}`}`, ...notes];
}

/** The name of a file about a test: readable, and different for each try of each test. */
export function keptFileName(titles: readonly string[], id: string, retry: number): string {
  const words = titles
    .join(' ')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  const short = createHash('sha256').update(`${id} ${retry}`).digest('hex').slice(0, 8);
  return `${words.slice(0, 60).replaceAll(/^-+|-+$/g, '') || 'test'}-${short}.html`;
}
