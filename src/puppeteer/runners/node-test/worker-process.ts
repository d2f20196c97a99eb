import type { RunnerWorker } from '../runner-worker.ts';
import { runnerFlags } from './runner-flags.ts';

/** A worker, and what it takes to let go of it. */
export interface OpenWorker {
  worker: RunnerWorker;
  /** Gives the browser back. Never rejects. */
  close(): Promise<void>;
}

/**
 * The worker of this process. A process that no runner has started (`node a.test.js`, `--test-isolation=none`) is a run of
 * its own, which ends with it.
 * @throws OptionsError when the run was started without poolwright
 */
export async function openWorker(): Promise<OpenWorker> {
  // Test files that ask for no browser load none of it.
  const [{ connectToBroker }, { sharedBrokerOf }, own, { runOfWorker }] = await Promise.all([
    import('../../../broker/rpc/client.ts'),
    import('../../../broker/rpc/shared-broker.ts'),
    import('../runner-worker.ts'),
    import('../worker-settings.ts'),
  ]);
  if (!sharedBrokerOf(process.env) && process.env.NODE_TEST_CONTEXT === undefined) await startOwnRun();
  const { address } = runOfWorker('node-test');
  // Node does not number its processes before 24. This line is open as long as the number is taken.
  const line = await connectToBroker(address, 'worker');
  const index = line.slot ?? 0;
  const worker = new own.RunnerWorker('node-test', { parallelIndex: index, workerIndex: index });
  const close = async () => {
    await worker.close();
    line.close();
  };
  return { worker, close };
}

async function startOwnRun(): Promise<void> {
  const { startRunnerRun } = await import('../runner-run.ts');
  const { shard } = runnerFlags(process.execArgv);
  const run = await startRunnerRun({ runner: 'node-test', root: process.cwd(), workers: 1, shard });
  process.once('beforeExit', () => {
    run.finish().catch((error: unknown) => {
      process.stderr.write(`${error}\n`);
      process.exitCode = 1;
    });
  });
}
