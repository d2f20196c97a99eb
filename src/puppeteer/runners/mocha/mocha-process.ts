import type { Page } from 'puppeteer-core';
import { errorMessage } from '../../../common/error-message.ts';
import { notify } from '../../../common/text/notify.ts';
import { addToMessage } from '../add-to-message.ts';
import { RunnerWorker } from '../runner-worker.ts';
import type { Scope } from '../scope.ts';
import { type Ended, type Served, servedOf, sessionNote, type TestRun } from '../test-run.ts';
import { type Wanted, wantedBy } from './mentions.ts';
import type { MochaTest } from './mocha-api.ts';
import { outcomeOf, startOf } from './test-facts.ts';
import { withoutTimeout } from './without-timeout.ts';

/** What `this.page` and the like are taken from. */
type Ready = Omit<Served, 'page'> & { page: Page };

/** The test that runs. */
interface Running {
  test: MochaTest;
  scope: Scope;
  run: TestRun;
  /** What it had at its beginning, or why it had not. */
  ready: Ready | Error | null;
}

/** The hosted browser of one process of Mocha's, and the test that runs there. */
export class MochaProcess {
  #worker: RunnerWorker | null = null;
  #running: Running | null = null;
  /** Of a `before` hook. */
  #shared: Scope | null = null;
  /** The file of the last test. */
  #file: { path: string | undefined; wanted: Wanted } | null = null;

  /**
   * A test begins. What its file wants is leased now; why none came is thrown where the test asks for it: a root hook
   * that throws would end the run.
   * @throws OptionsError when no run was set up
   */
  async begin(test: MochaTest): Promise<void> {
    const worker = this.#open();
    const start = startOf(test);
    const scope = worker.openScope(start.timeout, this.#shared !== null);
    const running: Running = { test, scope, run: worker.begin(start, scope), ready: null };
    this.#running = running;
    const wanted = this.#wantedBy(test.file);
    try {
      if (wanted === 'browser') await worker.ready(start.timeout);
      if (wanted === 'page') {
        const served = await running.run.serve();
        running.ready = { ...served, page: await served.page() };
      }
    } catch (error) {
      running.ready = error instanceof Error ? error : new Error(errorMessage(error));
    }
  }

  /** What the running test had at its beginning; null: nothing, or no test runs. @throws why no browser came */
  ready(): Ready | null {
    const ready = this.#running?.ready ?? null;
    if (ready instanceof Error) throw ready;
    return ready;
  }

  /** What who asks has: the running test, else all tests of a `describe`. @throws LeaseError, ServiceError, OptionsError */
  async serve(): Promise<Served> {
    if (!this.#running) {
      this.#shared ??= this.#open().openScope(0);
      return servedOf(await this.#shared.open());
    }
    const { test, run } = this.#running;
    return await withoutTimeout(test, () => run.serve());
  }

  /** A test is over, its users' hooks too. Never rejects. */
  async end(test: MochaTest): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (!running || !this.#worker) return;
    const outcome = outcomeOf(test);
    await running.scope.close();
    const ended = await this.#worker.end(running.run, outcome);
    if (ended && !outcome.ok) tellOf(test, ended);
  }

  /** Closes what a `before` hook has opened. Never rejects. */
  async closeShared(): Promise<void> {
    const shared = this.#shared;
    this.#shared = null;
    await shared?.close();
  }

  /** Gives the browser back. Never rejects. */
  async close(): Promise<void> {
    await this.closeShared();
    const worker = this.#worker;
    this.#worker = null;
    this.#file = null; // it may have changed when this process runs it again
    await worker?.close();
  }

  #open(): RunnerWorker {
    const index = Number(process.env.MOCHA_WORKER_ID ?? 0);
    this.#worker ??= new RunnerWorker('mocha', { parallelIndex: index, workerIndex: index });
    return this.#worker;
  }

  #wantedBy(path: string | undefined): Wanted {
    if (this.#file === null || this.#file.path !== path) this.#file = { path, wanted: wantedBy(path) };
    return this.#file.wanted;
  }
}

/** A failed test says which browser it had, and what became of it. */
function tellOf(test: MochaTest, { attachment, error }: Ended): void {
  const note = `(${sessionNote(attachment)})`;
  const text = error ? `${error.message}\n${note}` : note;
  if (test.err) addToMessage(test.err, text);
  // It failed in a hook, which has the error; or it is tried again, which is worth a word only where the browser was lost.
  else if (error || test.currentRetry() >= test.retries())
    notify(`${test.fullTitle()}: ${error ? text : sessionNote(attachment)}`);
}

const KEY = Symbol.for('poolwright.mocha');

/** One a process, however often this module is loaded there: Mocha may `require` it where a test file imports it. */
export function mochaProcess(): MochaProcess {
  const place = globalThis as { [KEY]?: MochaProcess };
  place[KEY] ??= new MochaProcess();
  return place[KEY];
}
