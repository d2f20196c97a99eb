import { print } from '../../common/text/notify.ts';
import type { RunnerWorker } from '../shared/runner-worker.ts';
import { runnerFlags } from './runner-flags.ts';

const NODE_TEST = {
  name: 'node-test',
  hint: 'run `node --require poolwright/node-test --test` (`--import` does not reach the runner itself)',
} as const;

/** A worker, and the function that closes it. */
export interface OpenWorker {
  worker: RunnerWorker;
  /** Gives the browser back. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the worker of this process. A process that no runner started (`node a.test.js`, `--test-isolation=none`)
 * becomes a separate run, which ends with it.
 * @throws OptionsError when the run was started without poolwright
 */
export async function openWorker(): Promise<OpenWorker> {
  // Loaded here, because test files without a browser do not need this code.
  const [{ connectToBroker }, { sharedBrokerOf }, own, { runOfWorker }] = await Promise.all([
    import('../../broker/rpc/client.ts'),
    import('../../broker/rpc/shared-broker.ts'),
    import('../shared/runner-worker.ts'),
    import('../shared/worker-settings.ts'),
  ]);
  if (!sharedBrokerOf(process.env) && process.env.NODE_TEST_CONTEXT === undefined) await startOwnRun();
  const { address } = runOfWorker(NODE_TEST);
  // Before version 24, Node does not number its processes. The number is reserved while this connection is open.
  const slotConnection = await connectToBroker(address, 'worker');
  const index = slotConnection.slot ?? 0;
  const worker = new own.RunnerWorker(NODE_TEST, { parallelIndex: index, workerIndex: index });
  const close = async () => {
    await worker.close();
    slotConnection.close();
  };
  return { worker, close };
}

async function startOwnRun(): Promise<void> {
  const { startRunnerRun } = await import('../shared/runner-run.ts');
  const { shard } = runnerFlags(process.execArgv);
  const run = await startRunnerRun({ runner: 'node-test', root: process.cwd(), workers: 1, shard });
  process.once('beforeExit', () => {
    run.finish().catch((error: unknown) => {
      void print(String(error));
      process.exitCode = 1;
    });
  });
}
