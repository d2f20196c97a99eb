import { isMainThread, MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { distFile } from '../../../common/dist-file.ts';
import { runnerFlags } from './runner-flags.ts';
import type { FromThread, ThreadStart } from './runner-thread.ts';

/** Set by Node in the processes that run test files. */
const RUNS_TESTS = 'NODE_TEST_CONTEXT';

/**
 * In the process of `node --test`, which starts one for each test file: starts the run's broker, and ends the run when the
 * runner is done. Anywhere else it does nothing.
 *
 * The broker's address must be in the environment before the first of those processes is started, and there is no hook in
 * the runner that waits: `--import` is not loaded there, a global setup is new in Node 24. So the start is done by a thread,
 * for which this one stands still; the thread has the broker until the end.
 */
export function startInRunner(): void {
  const { startsProcesses, ...flags } = runnerFlags(process.execArgv);
  if (!isMainThread || !startsProcesses || process.env[RUNS_TESTS] !== undefined) return;
  const started = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { port1: port, port2: theirs } = new MessageChannel();
  const { watch: watches, workers, shard } = flags;
  const start: ThreadStart = { port: theirs, started, run: { root: process.cwd(), workers, shard, watches } };
  const thread = new Worker(distFile('node-test-run.js'), {
    workerData: start,
    transferList: [theirs],
    // What the broker's address is put into, so that the processes of test files have it.
    env: process.env,
    execArgv: [],
  });
  Atomics.wait(started, 0, 0);
  const answer: { message: FromThread } | undefined = receiveMessageOnPort(port);
  const { environment, error } = answer?.message ?? { environment: {}, error: 'poolwright could not be started.' };
  if (error !== null) {
    process.stderr.write(`${error}\n`);
    process.exit(1);
  }
  Object.assign(process.env, environment);
  thread.unref();
  port.unref();
  process.once('beforeExit', () => {
    thread.ref();
    port.once('message', ({ error: failure }: FromThread) => {
      if (failure === null) return;
      process.stderr.write(`${failure}\n`);
      process.exitCode = 1;
    });
    port.postMessage('finish');
  });
}
