import type { Log } from '../../../src/broker/process/log.ts';
import { Ledger } from '../../../src/broker/recovery/ledger.ts';
import type { LeasePlan } from '../../../src/options/lease-plan.ts';
import { RunRecorder } from '../../../src/record/run-recorder.ts';

/** What parts of the broker need beside a service, in tests. */

export const quiet: Log = {
  info: () => undefined,
  notice: () => undefined,
  momentary: () => undefined,
  error: () => undefined,
};

export const run = { runId: 'run-1', shard: null, suite: 'suite', mark: 'ab12cd34' };

/** One that writes nothing to disk. */
export const memoryLedger = () => new Ledger(null, quiet);

/** One that writes nothing to disk. */
export const memoryRecorder = () =>
  new RunRecorder({
    runId: run.runId,
    service: 'hosted',
    chromiums: [],
    shard: null,
    recordFolder: null,
    onWriteError: () => undefined,
  });

export function planOf(more: Partial<LeasePlan> = {}): LeasePlan {
  return { pool: null, fallback: 'session', session: {}, reuse: 'run', acquireTimeout: 120_000, ...more };
}
