import { RequestAccount } from '../../../../src/broker/acquire/request-account.ts';
import { Ledger } from '../../../../src/broker/ledger/ledger.ts';
import type { Log } from '../../../../src/broker/log/log.ts';
import { createLeasing, type LeasingOptions } from '../../../../src/broker/run/leasing.ts';
import { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import type { LeasePlan } from '../../../../src/options/schema/plan.ts';
import { HostedBrowsers } from '../../../../src/providers/hosted/hosted-browsers.ts';
import type { RunPools } from '../../../../src/providers/port.ts';
import { RunRecorder } from '../../../../src/record/run-recorder.ts';

/** The parts that the broker needs besides a service, for tests. */

export const quiet: Log = {
  info: () => undefined,
  notice: () => undefined,
  once: () => undefined,
  momentary: () => undefined,
  error: () => undefined,
};

export const run = { runId: 'run-1', shard: null, suite: 'suite', mark: 'ab12cd34' };

/** The browsers of a scripted service, which has only what the test needs. */
export const hosted = (service: object) =>
  new HostedBrowsers(service as ConstructorParameters<typeof HostedBrowsers>[0]);

const NO_POOLS: RunPools = { resolve: async () => null, deleteOwn: async () => [] };

/** Creates a ledger that writes nothing to disk. */
export const memoryLedger = () => new Ledger(null, quiet);

/** Creates a recorder that writes nothing to disk. */
export const memoryRecorder = () =>
  new RunRecorder({
    runId: run.runId,
    runner: 'playwright',
    service: 'hosted',
    chromiums: [],
    shard: null,
    recordDirectory: null,
    onWriteError: () => undefined,
  });

/** The account of a request whose browsers do not matter. */
export function noAccount(): RequestAccount {
  return new RequestAccount({
    provider: { reportsDoubt: false },
    request: 'r-1',
    poolId: null,
    askedAt: 0,
    ledger: memoryLedger(),
    end: () => undefined,
  });
}

export function planOf(more: Partial<LeasePlan> = {}): LeasePlan {
  return { pool: null, fallback: 'session', session: {}, reuse: 'run', acquireTimeout: 120_000, ...more };
}

/** Creates what leases browsers and the parts that it writes to, with a client and the parts that a test sets. */
export function leasingOf({
  plans,
  workers,
  ...rest
}: Pick<LeasingOptions, 'provider' | 'clock'> &
  Partial<LeasingOptions> & {
    /** One project per plan: `p0`, `p1` … */
    plans: readonly LeasePlan[];
    workers: number;
  }) {
  const recorder = memoryRecorder();
  const ledger = rest.ledger ?? memoryLedger();
  const projects = plans.map((plan, n) => ({ id: `p${n}`, name: `p${n}`, plan }));
  const { parts, endAll } = createLeasing({
    run,
    pools: rest.provider.pools?.ofRun(run, ledger, workers, false) ?? NO_POOLS,
    limit: null,
    recorder,
    ledger,
    log: quiet,
    refusals: { saw: () => undefined, lately: () => null },
    ...rest,
  });
  return { leases: new LeaseService({ projects, ...parts }), endAll, recorder, ledger };
}
