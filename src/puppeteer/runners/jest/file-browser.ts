import type { Circus } from '@jest/types';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { type HostedSession, hostedSessionOf } from '../../../worker/hosted-session.ts';
import type { PuppeteerConnection } from '../../connection.ts';
import { RunnerWorker } from '../runner-worker.ts';
import type { Scope } from '../scope.ts';
import { type Ended, sessionNote, type TestRun } from '../test-run.ts';
import { addError, addNote } from './failure.ts';
import { outcomeOf, TestEntries } from './test-entries.ts';

/** What tests find in their file's global scope. */
export interface Globals {
  browser: Browser;
  context: BrowserContext;
  page: Page;
  hostedSession: HostedSession;
}

export const GLOBALS = ['browser', 'context', 'page', 'hostedSession'] as const;

/** A file of tests. */
interface TestFile {
  /** Absolute path. */
  file: string;
  isolate: 'file' | 'test';
  project: string;
}

/** What a file's browser must last at least, in ms: how long its tests take all together is not known. */
const FILE_NEED_MS = 120_000;

/** The hosted browser of one file of tests, from before its hooks until after them. */
export class FileBrowser {
  readonly #file: TestFile;
  readonly #worker: RunnerWorker;
  readonly #entries: TestEntries;
  /** Those that run. */
  readonly #runs = new Map<Circus.TestEntry, TestRun>();
  #scope: Scope | null = null;
  #link: PuppeteerConnection | null = null;
  #globals: Globals | null = null;
  /** Whether a test has had the present context. */
  #used = false;

  /** @throws OptionsError when no run was set up */
  constructor(file: TestFile) {
    const slot = Number(process.env.JEST_WORKER_ID ?? 1) - 1;
    this.#file = file;
    this.#worker = new RunnerWorker('jest', { parallelIndex: slot, workerIndex: slot });
    this.#entries = new TestEntries(file.file, file.project);
  }

  /** Null before {@link open}. */
  get globals(): Globals | null {
    for (const run of this.#runs.values()) void run.serve().catch(() => undefined);
    return this.#globals;
  }

  /** Leases a browser and opens a page. @throws LeaseError, ServiceError */
  async open(timeout = FILE_NEED_MS): Promise<void> {
    await this.#scope?.close();
    this.#globals = null;
    this.#scope = this.#worker.openScope(timeout);
    const { link, context, page } = await this.#scope.open();
    this.#link = link;
    this.#used = false;
    this.#globals = { browser: link.browser, context, page: await page(), hostedSession: hostedSessionOf(link.lease) };
  }

  /** What Jest tells of the file's tests; it waits for what is returned, except while they are declared. */
  async handle(event: Circus.Event, state: Circus.State): Promise<void> {
    switch (event.name) {
      case 'add_test':
        return this.#entries.declared(event.asyncError);
      case 'test_started':
        return await this.#begin(event.test, event.test.timeout ?? state.testTimeout);
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
    const run = this.#worker.begin(this.#entries.startOf(test, timeout), this.#scope);
    this.#runs.set(test, run);
    // What a hook before it did counts as its own where it failed there; of those that run at once it is not known.
    if (hasFailed || test.concurrent) await run.serve().catch(() => undefined);
  }

  /** Whether a test needs another context than the present one: its own, or one in place of one that was lost. */
  #needsAnother({ concurrent }: Circus.TestEntry): boolean {
    if (this.#link === null || this.#globals === null || this.#link.lost() !== null) return true;
    return this.#file.isolate === 'test' && this.#used && !concurrent;
  }

  async #end(test: Circus.TestEntry): Promise<void> {
    const run = this.#runs.get(test);
    this.#runs.delete(test);
    const outcome = outcomeOf(test);
    const ended = run ? await this.#worker.end(run, outcome) : null;
    if (ended && !outcome.ok) explain(test, ended);
  }
}

/** A test that failed says which browser it had, and what became of that. */
function explain(test: Circus.TestEntry, { attachment, error }: Ended): void {
  addNote(test, sessionNote(attachment));
  if (error) addError(test, error);
}
