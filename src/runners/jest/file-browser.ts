import type { Circus } from '@jest/types';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { PuppeteerConnection } from '../../clients/puppeteer/connection.ts';
import { type HostedSession, hostedSessionOf } from '../../clients/shared/hosted-session.ts';
import { RunnerWorker } from '../shared/runner-worker.ts';
import type { Scope } from '../shared/scope.ts';
import { type EndedTest, failureNotes, type TestRun } from '../shared/test-run.ts';
import { addError, addNote } from './failure.ts';
import { outcomeOf, TestEntries } from './test-entries.ts';

export interface Globals {
  browser: Browser;
  context: BrowserContext;
  page: Page;
  hostedSession: HostedSession;
}

export const GLOBALS = ['browser', 'context', 'page', 'hostedSession'] as const;

interface TestFile {
  /** Absolute path. */
  file: string;
  isolate: 'file' | 'test';
  project: string;
}

const JEST = {
  name: 'jest',
  hint: "add `preset: 'poolwright/jest'` to jest.config; your own `globalSetup` must call `setup` of poolwright/jest",
} as const;

/** Minimum lifetime of a file's browser, in ms. The total time of its tests is unknown. */
const FILE_NEED_MS = 120_000;

/** The hosted browser of one test file, from before its hooks until after them. */
export class FileBrowser {
  readonly #file: TestFile;
  readonly #worker: RunnerWorker;
  readonly #entries: TestEntries;
  readonly #runs = new Map<Circus.TestEntry, TestRun>();
  #scope: Scope | null = null;
  #connection: PuppeteerConnection | null = null;
  #globals: Globals | null = null;
  /** Whether a test has used the current context. */
  #used = false;

  /** @throws OptionsError when no run was set up */
  constructor(file: TestFile) {
    const slot = Number(process.env.JEST_WORKER_ID ?? 1) - 1;
    this.#file = file;
    this.#worker = new RunnerWorker(JEST, { parallelIndex: slot, workerIndex: slot });
    this.#entries = new TestEntries(file.file, file.project);
  }

  /** Null before {@link open}. */
  get globals(): Globals | null {
    for (const run of this.#runs.values()) void run.open().catch(() => undefined);
    return this.#globals;
  }

  /** Leases a browser and opens a page. @throws LeaseError, ServiceError */
  async open(timeout = FILE_NEED_MS): Promise<void> {
    await this.#scope?.close();
    this.#globals = null;
    this.#scope = this.#worker.openScope(timeout);
    const { connection, context, page } = await this.#scope.open();
    this.#connection = connection;
    this.#used = false;
    this.#globals = {
      browser: connection.browser,
      context,
      page: await page(),
      hostedSession: hostedSessionOf(connection.lease, (reason) => this.#hold(connection, reason)),
    };
  }

  /** Handles Jest's events about tests. Jest awaits the result, except while tests are declared. */
  async handle(event: Circus.Event, state: Circus.State): Promise<void> {
    switch (event.name) {
      case 'add_test':
        return this.#entries.recordLine(event.asyncError);
      case 'test_started':
        return await this.#begin(event.test, event.test.timeout ?? state.testTimeout);
      case 'test_fn_failure':
        return await this.#runs.get(event.test)?.failed();
      case 'test_done':
        return await this.#end(event.test);
    }
  }

  /** Gives the browser back. Never rejects. */
  async close(): Promise<void> {
    await this.#scope?.close();
    await this.#worker.close();
  }

  async #begin(test: Circus.TestEntry, timeout: number): Promise<void> {
    const hasFailed = test.errors.length > 0;
    try {
      if (this.#needsAnother(test)) await this.open(this.#file.isolate === 'test' ? timeout : FILE_NEED_MS);
    } catch (error) {
      addError(test, error);
    }
    if (!this.#scope) return;
    this.#used = true;
    const run = this.#worker.begin(this.#entries.startOf(test, timeout), this.#scope, true);
    this.#runs.set(test, run);
    // Counts the browser as used: a failed hook may have used it, and it is unknown which concurrent tests do.
    if (hasFailed || test.concurrent) await run.open().catch(() => undefined);
  }

  /** Whether a test needs a new context: because each test has its own, or because the current one was lost. */
  #needsAnother({ concurrent }: Circus.TestEntry): boolean {
    if (this.#connection === null || this.#globals === null || this.#connection.lost() !== null) return true;
    return this.#file.isolate === 'test' && this.#used && !concurrent;
  }

  /** See {@link HostedSession.hold}. Which of several concurrent tests calls it is unknown. */
  async #hold(connection: PuppeteerConnection, reason: string): Promise<void> {
    const run = [...this.#runs.values()].at(-1);
    await (run ?? this.#worker).hold(connection, reason);
  }

  async #end(test: Circus.TestEntry): Promise<void> {
    const run = this.#runs.get(test);
    this.#runs.delete(test);
    const outcome = outcomeOf(test);
    const ended = run ? await this.#worker.end(run, outcome) : null;
    if (ended && !outcome.ok) explain(test, ended);
  }
}

/** Adds to a failed test's errors which browser it had, and whether that was lost. */
function explain(test: Circus.TestEntry, ended: EndedTest): void {
  // One by one: tests that fail in the same hook share an error, but each has its own evidence.
  for (const note of failureNotes(ended)) addNote(test, note);
  if (ended.error) addError(test, ended.error);
}
