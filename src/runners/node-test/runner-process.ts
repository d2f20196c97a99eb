import { isMainThread, MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { distFile } from '../../common/dist-file.ts';
import { print } from '../../common/text/notify.ts';
import { runnerFlags } from './runner-flags.ts';
import type { FromThread, ThreadStart } from './runner-thread.ts';

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
export function startInRunner(): void {
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
