import { createRegistry, type RegistryOptions } from '../../../../src/broker/leasing/lease-registry.ts';
import { Projects } from '../../../../src/broker/leasing/projects.ts';
import { PoolDirectory } from '../../../../src/broker/pools/pool-directory.ts';
import type { Log } from '../../../../src/broker/process/log.ts';
import { Ledger } from '../../../../src/broker/recovery/ledger.ts';
import type { LeasePlan } from '../../../../src/options/lease-plan.ts';
import { RunRecorder } from '../../../../src/record/run-recorder.ts';

/** What parts of the broker need beside a service, in tests. */

export const quiet: Log = {
  info: () => undefined,
  notice: () => undefined,
  once: () => undefined,
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
    runner: 'playwright',
    service: 'hosted',
    chromiums: [],
    shard: null,
    recordFolder: null,
    onWriteError: () => undefined,
  });

export function planOf(more: Partial<LeasePlan> = {}): LeasePlan {
  return { pool: null, fallback: 'session', session: {}, reuse: 'run', acquireTimeout: 120_000, ...more };
}

/** A registry and what it writes to, with a client and what else a test cares about. */
export function registryOf({
  plans,
  workers,
  ...rest
}: Pick<RegistryOptions, 'client' | 'clock'> &
  Partial<RegistryOptions> & {
    /** Each with a project of its own: `p0`, `p1` … */
    plans: readonly LeasePlan[];
    workers: number;
  }) {
  const recorder = memoryRecorder();
  const ledger = rest.ledger ?? memoryLedger();
  const projects = new Projects(plans.map((plan, n) => ({ id: `p${n}`, name: `p${n}`, plan })));
  const registry = createRegistry({
    run,
    projects,
    pools: new PoolDirectory(rest.client, run, ledger, workers),
    limit: null,
    recorder,
    ledger,
    log: quiet,
    trouble: () => null,
    ...rest,
  });
  return { registry, recorder, projects, ledger };
}
