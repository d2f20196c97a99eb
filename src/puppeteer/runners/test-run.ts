import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { PoolwrightError } from '../../errors.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import type { TestRecord } from '../../record/run-record.ts';
import { type HostedSession, hostedSessionOf } from '../../worker/hosted-session.ts';
import type { RecordedLink } from '../../worker/link/lease-link.ts';
import { lossError } from '../../worker/link/loss.ts';
import { unreachedError } from '../../worker/link/unreached.ts';
import type { RecordSink, UseRecords } from '../../worker/use-records.ts';
import type { PuppeteerConnection } from '../connection.ts';
import type { Open, Scope } from './scope.ts';

/** A test that begins. */
export interface TestStart extends Pick<TestRecord, 'id' | 'line' | 'project' | 'retry'> {
  /** Names of its groups and its own. */
  titles: readonly string[];
  /** Absolute path. */
  file: string;
  /** ms; 0: none. */
  timeout: number;
}

/** What a test has of its hosted browser. */
export interface Served {
  browser: Browser;
  context: BrowserContext;
  session: HostedSession;
  /** The context's first page, opened when it is first asked for. */
  page(): Promise<Page>;
}

/** What became of a test's use of browsers. */
export interface Ended {
  attachment: HostedBrowserAttachment;
  /** What a test that failed shall fail with, too: its browser was lost, or its pages did not reach something here. */
  error: PoolwrightError | null;
}

/** Where a test runs, and where it goes on record. */
export interface Surroundings {
  parallelIndex: number;
  workerIndex: number;
  /** Files are named from there. */
  root: string;
  shard: HostedBrowserAttachment['shard'];
  records: UseRecords;
  sink: RecordSink;
}

/** One test from its beginning to its end. */
export class TestRun {
  readonly #test: TestStart;
  readonly #scope: Scope;
  readonly #where: Surroundings;
  readonly #startedAt = new Date();
  /** Each with what it had moved, in bytes, when the test began to use it. */
  readonly #links = new Map<RecordedLink, number>();
  readonly #unreached = new Set<string>();
  /** What had passed over the link that was there when it began. */
  readonly #before: { link: PuppeteerConnection; bytes: number; commands: number } | null;

  /** @param present the link that is connected already */
  constructor(test: TestStart, scope: Scope, where: Surroundings, present: PuppeteerConnection | null) {
    this.#test = test;
    this.#scope = scope;
    this.#where = where;
    this.#before = present && { link: present, bytes: bytesOf(present), commands: present.commands() };
  }

  /** A page did not reach something of this machine: if the test fails, it shall say so. */
  unreached(text: string): void {
    this.#unreached.add(text);
  }

  /** The test's browser and context. @throws LeaseError, ServiceError when no browser comes */
  async serve(): Promise<Served> {
    const open = await this.#scope.open();
    const { link } = open;
    if (!this.#links.has(link)) this.#links.set(link, bytesOf(link));
    return servedOf(open);
  }

  /** The test is over. Null when it used no hosted browser. To be called once. */
  async end({ status, ok }: Pick<TestRecord, 'ok' | 'status'>): Promise<Ended | null> {
    const before = this.#before;
    // A page that tests share makes it a test with a browser when it gave that something to do.
    if (before && !this.#links.has(before.link) && before.link.commands() !== before.commands) {
      this.#links.set(before.link, before.bytes);
    }
    const { timeout: _timeout, ...test } = this.#test;
    const { parallelIndex, workerIndex, root: rootDir, shard, records, sink } = this.#where;
    const times = { startedAt: this.#startedAt, endedAt: new Date() };
    const facts = { ...test, ...times, status, ok, rootDir, parallelIndex };
    const recorded = await records.put(facts, this.#links, { workerIndex, shard }, sink);
    return recorded && { attachment: recorded.attachment, error: ok ? null : this.#errorOf(recorded.lost) };
  }

  #errorOf(lost: { link: RecordedLink; failure: string } | null): PoolwrightError | null {
    if (lost) return lossError(lost.link.lease, lost.failure);
    return this.#unreached.size > 0 ? unreachedError(this.#unreached) : null;
  }
}

/** What is open, as users have it. */
export function servedOf({ link, context, page }: Open): Served {
  return { browser: link.browser, context, session: hostedSessionOf(link.lease), page };
}

/** What is added to the message of a test that failed: which browser it had. */
export function sessionNote({ sessionId, poolId }: HostedBrowserAttachment): string {
  return `hosted browser: session ${sessionId}${poolId === null ? '' : ` of pool ${poolId}`}`;
}

function bytesOf(link: RecordedLink): number {
  return link.observedBytes() ?? 0;
}
