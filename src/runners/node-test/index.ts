/**
 * `poolwright/node-test`. Enable it with `node --require poolwright/node-test --test`. `hostedBrowser()` gives the
 * tests of a file or suite a hosted browser.
 */

import { after, afterEach, beforeEach } from 'node:test';
import { isMainThread, MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { distFile } from '../../common/dist-file.ts';
import { print } from '../../common/text/notify.ts';
import { runnerFlags } from './runner-flags.ts';
import type { FromThread, ThreadStart } from './runner-thread.ts';
import type { NodeTest } from './test-facts.ts';
import { type HostedTest, testProcess } from './test-process.ts';

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedTest } from './test-process.ts';

/**
 * The hosted browser of the running test. When several tests run concurrently (`concurrency`), its properties throw:
 * use `of(t)` instead.
 */
export interface HostedBrowser extends HostedTest {
  /**
   * The hosted browser of one test, also when tests run concurrently.
   * @param test the test's argument: `test('…', async (t) => …)`
   */
  of(test: NodeTest): HostedTest;
}

/**
 * Gives every test of this file, or of the suite in which it is called, a hosted browser. Each test has its own context
 * and page, which are closed after it. Call it where you would call `beforeEach`.
 *
 * If no browser is available, the test fails with LeaseError or ServiceError. If poolwright is not set up for the run,
 * all tests fail with OptionsError.
 */
export function hostedBrowser(): HostedBrowser {
  const tests = testProcess();
  tests.suiteBegins();
  beforeEach(async (test) => await tests.begin(test as NodeTest));
  afterEach(async (test) => await tests.end(test as NodeTest));
  after(async () => await tests.suiteEnds());
  return {
    of: (test) => tests.of(test),
    get browser() {
      return tests.current.browser;
    },
    get context() {
      return tests.current.context;
    },
    get page() {
      return tests.current.page;
    },
    get session() {
      return tests.current.session;
    },
  };
}

/** Set by Node in the processes that run test files. */
const RUNS_TESTS = 'NODE_TEST_CONTEXT';

/**
 * In the process of `node --test`, which starts one process for each test file: starts the run's broker, and ends the
 * run when the runner is done. Does nothing in other processes.
 *
 * The environment must contain the broker's address before the first of those processes starts, and no hook of the
 * runner can wait for it: `--import` does not load there, and the global setup exists only since Node 24. Therefore a
 * worker thread starts the broker while this thread blocks. The worker thread owns the broker until the end.
 */
function startInRunner(): void {
  const { startsProcesses, ...flags } = runnerFlags(process.execArgv);
  if (!isMainThread || !startsProcesses || process.env[RUNS_TESTS] !== undefined) return;
  const started = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { port1: port, port2: threadPort } = new MessageChannel();
  const { watch: watches, workers, shard } = flags;
  const start: ThreadStart = { port: threadPort, started, run: { root: process.cwd(), workers, shard, watches } };
  const thread = new Worker(distFile('node-test-run.js'), {
    workerData: start,
    transferList: [threadPort],
    // The thread writes the broker's address into it, for the processes of the test files.
    env: process.env,
    execArgv: [],
  });
  Atomics.wait(started, 0, 0);
  const response: { message: FromThread } | undefined = receiveMessageOnPort(port);
  const { environment, error } = response?.message ?? { environment: {}, error: 'poolwright could not be started.' };
  if (error !== null) {
    void print(error);
    process.exit(1);
  }
  Object.assign(process.env, environment);
  thread.unref();
  port.unref();
  process.once('beforeExit', () => {
    thread.ref();
    port.once('message', ({ error: failure }: FromThread) => {
      if (failure === null) return;
      void print(failure);
      process.exitCode = 1;
    });
    port.postMessage('finish');
  });
}

// Loaded first (`--require`), this is our only code that runs in the runner's own process.
startInRunner();
