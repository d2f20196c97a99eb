import { once } from 'node:events';
import { type MessagePort, workerData } from 'node:worker_threads';
import { BROKER_VARIABLE } from '../../../broker/rpc/shared-broker.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { type RunnerRun, type RunnerStart, startRunnerRun } from '../runner-run.ts';
import { SETTINGS_VARIABLE } from '../worker-settings.ts';

/** What the runner's thread tells this one. */
export interface ThreadStart {
  port: MessagePort;
  /** Set to 1 when there is an answer on the port: the other thread stands still for it. */
  started: Int32Array;
  run: Omit<RunnerStart, 'runner'>;
}

/** What this thread answers: after the start, and after the end. */
export interface FromThread {
  /** For the processes that run tests. */
  environment: NodeJS.ProcessEnv;
  /** What the user is told, and the run fails with. */
  error: string | null;
}

const { port, started, run: start }: ThreadStart = workerData;

let run: RunnerRun | null = null;
let error: string | null = null;
try {
  run = await startRunnerRun({ ...start, runner: 'node-test' });
} catch (failure) {
  error = textOf(failure);
}
const { [BROKER_VARIABLE]: broker, [SETTINGS_VARIABLE]: settings } = process.env;
answer({ environment: { [BROKER_VARIABLE]: broker, [SETTINGS_VARIABLE]: settings }, error });
Atomics.store(started, 0, 1);
Atomics.notify(started, 0);
if (run) {
  await once(port, 'message');
  await run.finish().catch((failure: unknown) => {
    error = textOf(failure);
  });
  answer({ environment: {}, error });
}
port.close();

function answer(message: FromThread): void {
  port.postMessage(message);
}

function textOf(failure: unknown): string {
  return failure instanceof Error ? `${failure.name}: ${failure.message}` : errorMessage(failure);
}
