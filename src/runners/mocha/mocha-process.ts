import { relative } from 'node:path';
import type { Page } from 'puppeteer-core';
import { monotonicNow } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { addToMessage } from '../shared/add-to-message.ts';
import { RunnerWorker } from '../shared/runner-worker.ts';
import type { Scope } from '../shared/scope.ts';
import {
  type EndedTest,
  failureNotes,
  failureText,
  type HostedValues,
  hostedValuesOf,
  type Outcome,
  type TestRun,
  type TestStart,
} from '../shared/test-run.ts';
import type { MochaTest } from './mocha-api.ts';
import { type Requirement, requirementOf } from './requirement.ts';

const MOCHA = {
  name: 'mocha',
  hint: 'add `"require": ["poolwright/mocha"]` to .mocharc.json, or run `mocha --require poolwright/mocha`',
} as const;

/** The values behind `this.page` and the like. */
type ReadyValues = Omit<HostedValues, 'page'> & { page: Page };

interface Running {
  test: MochaTest;
  run: TestRun;
  /** Its browser values, or why it has none; null when its file needs none. */
  ready: ReadyValues | Error | null;
}

/** The hosted browser of one Mocha process, and the test that runs there. */
export class MochaProcess {
  #worker: RunnerWorker | null = null;
  #running: Running | null = null;
  /** The context of a `before` hook. */
  #shared: Scope | null = null;
  /** The file of the previous test. */
  #file: { path: string | undefined; requirement: Requirement } | null = null;

  /**
   * A test begins. Leases what its file needs. An error is stored and thrown when the test uses the browser, because a
   * root hook that throws would end the run.
   * @throws OptionsError when no run was set up
   */
  async begin(test: MochaTest): Promise<void> {
    const worker = this.#openWorker();
    const start = startOf(test);
    const scope = worker.openScope(start.timeout, this.#shared !== null);
    const running: Running = { test, run: worker.begin(start, scope), ready: null };
    this.#running = running;
    const requirement = this.#requirementOf(test.file);
    try {
      if (requirement === 'browser') await worker.prepare(start.timeout);
      if (requirement === 'page') {
        const values = await running.run.open();
        running.ready = { ...values, page: await values.page() };
      }
    } catch (error) {
      running.ready = error instanceof Error ? error : new Error(errorMessage(error));
    }
  }

  /** Browser values of the running test, or null. @throws the reason why no browser is available */
  readyValues(): ReadyValues | null {
    const ready = this.#running?.ready ?? null;
    if (ready instanceof Error) throw ready;
    return ready;
  }

  /** Opens the context of the running test, or the one all tests of a `describe` share. @throws PoolwrightError */
  async open(): Promise<HostedValues> {
    if (!this.#running) {
      const worker = this.#openWorker();
      this.#shared ??= worker.openScope(0);
      const open = await this.#shared.open();
      return hostedValuesOf(open, (reason) => worker.hold(open.connection, reason));
    }
    const { test, run } = this.#running;
    return await withoutTimeout(test, () => run.open());
  }

  /** A test and the user's hooks are over. Never rejects. */
  async end(test: MochaTest): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (!running || !this.#worker) return;
    const outcome = outcomeOf(test);
    const ended = await this.#worker.end(running.run, outcome);
    if (ended && !outcome.ok) reportFailure(test, ended);
  }

  /** Closes the context that a `before` hook opened. Never rejects. */
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
    this.#file = null; // the file may change before this process runs it again
    await worker?.close();
  }

  #openWorker(): RunnerWorker {
    const index = Number(process.env.MOCHA_WORKER_ID ?? 0);
    this.#worker ??= new RunnerWorker(MOCHA, { parallelIndex: index, workerIndex: index });
    return this.#worker;
  }

  #requirementOf(path: string | undefined): Requirement {
    if (this.#file === null || this.#file.path !== path) this.#file = { path, requirement: requirementOf(path) };
    return this.#file.requirement;
  }
}

/** Adds to a failed test's error which browser it had, and whether that was lost. */
function reportFailure(test: MochaTest, ended: EndedTest): void {
  const { error } = ended;
  const text = failureText(ended);
  if (test.err) addToMessage(test.err, text, error?.message);
  // Without an error object, it failed in a hook, which has the error, or is retried. A retry is reported only after a
  // loss.
  else if (error || test.currentRetry() >= test.retries())
    notify(`${test.fullTitle()}: ${error ? `${error.message}\n${text}` : failureNotes(ended).join('; ')}`);
}

const KEY = Symbol.for('poolwright.mocha');

/** One per process, even if this module is loaded twice: by `require` and by a test file that imports it. */
export function mochaProcess(): MochaProcess {
  const place = globalThis as { [KEY]?: MochaProcess };
  place[KEY] ??= new MochaProcess();
  return place[KEY];
}

/** Start data of a test. Mocha does not report lines. */
function startOf(test: MochaTest): TestStart {
  const file = test.file ?? '';
  return {
    id: `${relative('', file).replaceAll('\\', '/')}#${test.fullTitle()}`,
    titles: test.titlePath(),
    file,
    line: 0,
    project: '',
    retry: test.currentRetry(),
    timeout: test.timeout(),
    allow: () => pauseTimeout(test),
  };
}

/** The outcome of a test, in its last hook. Without a state, it failed in a hook or will be retried. */
function outcomeOf(test: MochaTest): Outcome {
  if (test.isPassed()) return { status: 'passed', ok: true };
  if (test.isPending()) return { status: 'skipped', ok: true };
  const status = test.err?.code === 'ERR_MOCHA_TIMEOUT' ? 'timedOut' : 'failed';
  return { status, ok: false, error: test.err?.message };
}

type Timed = Pick<MochaTest, 'duration' | 'timeout'>;

/**
 * Does work that does not count towards the test's timeout: afterwards, the test has at least as much time as before.
 */
async function withoutTimeout<T>(test: Timed, work: () => Promise<T>): Promise<T> {
  const resume = pauseTimeout(test);
  try {
    return await work();
  } finally {
    resume();
  }
}

/** From now on, the test has no timeout. The returned function sets it again, with the time that has passed. */
function pauseTimeout(test: Timed): () => void {
  const timeout = test.timeout();
  // Setting the timeout of a test that is over, in its `afterEach`, would start its timer again.
  if (timeout === 0 || test.duration !== undefined) return () => undefined;
  const start = monotonicNow();
  test.timeout(0);
  return () => void test.timeout(timeout + Math.ceil(monotonicNow() - start));
}
