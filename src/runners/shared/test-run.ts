import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { PuppeteerConnection } from '../../clients/puppeteer/connection.ts';
import type { HeldTest, WorkerHolds } from '../../clients/shared/hold/holds.ts';
import { type HostedSession, hostedSessionOf } from '../../clients/shared/hosted-session.ts';
import { type EndedUse, type RecordSink, TestUse } from '../../clients/shared/test-use.ts';
import { dateNow } from '../../common/clock.ts';
import { notify } from '../../common/text/notify.ts';
import type { PageFilm } from '../../film/film.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import type { TestRecord } from '../../record/run-record.ts';
import { keyOf, type TestFacts } from '../../record/test-record.ts';
import type { Evidence } from './evidence/evidence.ts';
import type { OpenContext, Scope } from './scope.ts';

/** The start data of a test. */
export interface TestStart extends Pick<TestRecord, 'id' | 'line' | 'project' | 'retry'> {
  /** Names of its groups, then its own. */
  titles: readonly string[];
  /** Absolute path. */
  file: string;
  /** ms; 0: none. */
  timeout: number;
  /** See {@link HeldTest.allow}. Missing: the runner has no way to do so. */
  allow?: HeldTest['allow'];
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
  shard: HostedBrowserAttachment['shard'];
  sink: RecordSink;
  /** Null: no evidence is kept. */
  evidence: Evidence | null;
  holds: WorkerHolds;
  /** Whether failed tests are put on hold. */
  holdsFailures: boolean;
}

/** The scope of a test, and of the tests that run at the same time. */
export interface TestScope {
  scope: Scope;
  /** Whether other tests use its pages after this one. */
  staysOpen: boolean;
  others(): BrowserContext[];
}

/** A recorded test. */
export interface EndedTest extends Omit<EndedUse, 'film'> {
  /** Directory of its evidence, see `TestRecord`. */
  evidence: string | null;
  /** File of its film, relative to the runner's root directory. */
  film: string | null;
}

/** How a test ended. */
type Outcome = Pick<TestRecord, 'ok' | 'status'>;

/** One test from start to end. */
export class TestRun {
  readonly #test: TestStart;
  readonly #scope: TestScope;
  readonly #where: WorkerContext;
  readonly #use = new TestUse();
  /** The end of the previous test in the same pages. */
  readonly #since: number;
  #failure: Promise<string | null> | null = null;

  /** @param current the browser that is already connected */
  constructor(test: TestStart, scope: TestScope, where: WorkerContext, current: PuppeteerConnection | null) {
    this.#test = test;
    this.#scope = scope;
    this.#where = where;
    this.#since = scope.scope.lastTestEnd;
    // Tests may share a page of a hook or of their file.
    this.#use.begin(current, true);
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

  /** The context of the test, if it is open. */
  get context(): BrowserContext | null {
    return this.#scope.scope.context;
  }

  /**
   * The test has failed, and its pages are still open. {@link finish} calls it. A runner calls it earlier if it knows
   * of the failure before the user's hooks run, which may close pages. Never rejects.
   */
  async failed(): Promise<void> {
    this.#failure ??= this.#keepFailure();
    await this.#failure;
  }

  /** See {@link HostedSession.hold}. */
  async hold(connection: PuppeteerConnection, reason: string): Promise<void> {
    await this.#where.holds.hold(connection, reason, this.#held());
  }

  /** The test is over: its pages close, unless other tests use them. Never rejects. */
  async finish({ status, ok }: Outcome): Promise<void> {
    const { scope, staysOpen } = this.#scope;
    if (!ok && status !== 'interrupted') await this.failed();
    scope.lastTestEnd = dateNow();
    if (!staysOpen) await scope.close();
  }

  /** Records the test. Null when it used no hosted browser. Call once, after {@link finish}. */
  async end({ status, ok }: Outcome): Promise<EndedTest | null> {
    const { timeout: _timeout, allow: _allow, ...test } = this.#test;
    const { parallelIndex, workerIndex, root: rootDir, shard, sink } = this.#where;
    const times = { startedAt: this.#use.startedAt, endedAt: new Date(dateNow()) };
    const evidence = ok ? null : await this.#failure;
    const facts = { ...test, ...times, status, ok, rootDir, parallelIndex, evidence };
    const ended = await this.#use.end({ facts, failed: !ok, workerIndex, shard }, sink);
    return ended && { ...ended, evidence, film: await filmOf(facts, ended.film, sink) };
  }

  /** Returns the directory of its evidence. */
  async #keepFailure(): Promise<string | null> {
    const directory = await this.#collectEvidence();
    const { holds, holdsFailures } = this.#where;
    const { connection } = this.#scope.scope;
    if (holdsFailures && connection && this.#use.hasUsedBrowser()) {
      this.#use.endFilm();
      // The test's timeout is over.
      await holds.holdFailed(connection, this.#held(noMoreTime));
    }
    return directory;
  }

  #held(allow = this.#test.allow ?? noMoreTime): HeldTest {
    const { titles } = this.#test;
    return { title: titles.join(' › '), recordHold: (reason) => this.#use.recordHold(reason), allow };
  }

  async #collectEvidence(): Promise<string | null> {
    const { evidence } = this.#where;
    const connection = this.#use.lastUsed();
    if (!evidence || !connection) return null;
    const others = this.#scope.others();
    return await evidence.collect({ test: this.#test, connection, context: this.context, others, since: this.#since });
  }
}

/** Without it, a test is still a test. */
async function filmOf(facts: TestFacts, pages: readonly PageFilm[], sink: RecordSink): Promise<string | null> {
  if (pages.length === 0) return null;
  try {
    // Loaded here, because few tests have one.
    const { writeFilm } = await import('./film-file.ts');
    return await writeFilm(facts, pages, sink);
  } catch (reason) {
    notify(`no film of ${facts.titles.join(' › ')}: ${reason}`);
    return null;
  }
}

/** For a test whose timeout cannot wait, or does not run. */
function noMoreTime(): () => void {
  return () => undefined;
}

/** The public values of an open context. */
export function hostedValuesOf({ connection, context, page }: OpenContext, hold: HostedSession['hold']): HostedValues {
  return { browser: connection.browser, context, session: hostedSessionOf(connection.lease, hold), page };
}

/** Lines for the error of a failed test: which browser it had, and where its evidence and its film are. */
export function failureNotes({ attachment: { sessionId, poolId }, evidence, film }: EndedTest): string[] {
  const session = `hosted browser: session ${sessionId}${poolId === null ? '' : ` of pool ${poolId}`}`;
  return [
    session,
    ...(evidence === null ? [] : [`evidence: ${evidence}`]),
    ...(film === null ? [] : [`film: ${film}`]),
  ];
}
