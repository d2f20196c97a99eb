import { once } from 'node:events';
import { type MessagePort, workerData } from 'node:worker_threads';
import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import { type RunnerRun, type RunnerStart, startRunnerRun } from '../shared/runner-run.ts';
import { SETTINGS_VARIABLE } from '../shared/worker-settings.ts';

/** Input of this thread, from the runner's thread. */
export interface ThreadStart {
  port: MessagePort;
  /** Set to 1 when the port has a response, for which the runner's thread blocks. */
  started: Int32Array;
  run: Omit<RunnerStart, 'runner'>;
}

/** Messages of this thread: one after the start, one after the end. */
export interface FromThread {
  /** For the processes that run tests. */
  environment: NodeJS.ProcessEnv;
  /** The error to print. The run fails with it. */
  error: string | null;
}

const { port, started, run: start }: ThreadStart = workerData;

let run: RunnerRun | null = null;
let error: string | null = null;
try {
  run = await startRunnerRun({ ...start, runner: 'node-test' });
} catch (failure) {
  error = String(failure);
}
const { [BROKER_VARIABLE]: broker, [SETTINGS_VARIABLE]: settings } = process.env;
post({ environment: { [BROKER_VARIABLE]: broker, [SETTINGS_VARIABLE]: settings }, error });
Atomics.store(started, 0, 1);
Atomics.notify(started, 0);
if (run) {
  await once(port, 'message');
  await run.finish().catch((failure: unknown) => {
    error = String(failure);
  });
  post({ environment: {}, error });
}
port.close();

function post(message: FromThread): void {
  port.postMessage(message);
}
