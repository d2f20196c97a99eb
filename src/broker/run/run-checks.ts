import type { LeasePlan } from '../../options/schema/plan.ts';
import type { Balance, BrowserPool, BrowserProvider, RunPools } from '../../providers/port.ts';
import type { RunSweep } from '../recovery/run-sweep.ts';
import type { StartDeadline } from './start-deadline.ts';

export interface RunChecks {
  provider: Pick<BrowserProvider, 'check' | 'limit' | 'balance' | 'limited'>;
  /** The deadline for the start, which covers each step. */
  start: Pick<StartDeadline, 'step'>;
  /** Stops browsers that dead runs left; null: there cannot be any. */
  sweep: Pick<RunSweep, 'begin'> | null;
  /** Whether the run should have a ledger but has none. */
  lacksLedger: boolean;
  pools: Pick<RunPools, 'resolve'>;
  plans: readonly LeasePlan[];
  workers: number;
  shard: { current: number; total: number } | null;
}

export interface CheckedRun {
  /** How many browsers may run at the same time; null: unknown. */
  limit: number | null;
  /** In cents; null: unknown. */
  balance: number | null;
  /** Sizes of the named pools, by the name or ID in the options. */
  poolSizes: ReadonlyMap<string, number>;
  /** Messages for the user, one line each. */
  notices: string[];
}

const NO_LEDGER =
  "warning: no ledger of this run is kept: the project has no node_modules, and neither the home directory nor the one in the temporary directory is this user's alone. After a crash, browsers are found by their notes only";

/**
 * Runs the checks that need no browser, in this order: the service responds and accepts the key; the sweep of dead runs
 * starts; the named pools exist; limit, pools and balance are sufficient.
 * @throws ServiceError, OptionsError, PoolwrightError `TIMEOUT`: the run cannot begin
 */
export async function checkRun(checks: RunChecks): Promise<CheckedRun> {
  const { provider, start, sweep, lacksLedger } = checks;
  // Requested at once, because the service may be far away; used only if the service accepts the key. A run does not
  // fail because they are not available.
  const account = Promise.all([provider.limit().catch(() => null), provider.balance?.().catch(() => null) ?? null]);
  await start.step('the service to respond', (signal) => provider.check(signal));
  const notices = sweep ? await sweep.begin() : [];
  if (lacksLedger) notices.push(NO_LEDGER);
  const plans = await withPools(checks);
  const [limit, balance] = await account;
  const warnings = warningsOf(checks, plans, limit, balance).map((warning) => `warning: ${warning}`);
  const poolSizes = new Map(plans.flatMap(({ plan, pool }) => (pool ? [[String(plan.pool), pool.size] as const] : [])));
  return { limit, balance: balance?.cents ?? null, poolSizes, notices: [...notices, ...warnings] };
}

/** A plan with its named pool, if it names one. */
type PlanWithPool = { plan: LeasePlan; pool: BrowserPool | null };

/** Compares the run's demand with the limit, the balance and the pools. */
function warningsOf(
  { provider, workers, shard }: RunChecks,
  plans: PlanWithPool[],
  limit: number | null,
  balance: Balance | null,
): string[] {
  const wanted = workers * (shard?.total ?? 1);
  const many = shard ? `${workers} workers × ${shard.total} shards` : `${workers} workers`;
  const tooMany = `${many} want ${wanted} browsers, and ${provider.limited.by} allows ${limit} at once: some workers will wait for others to finish`;
  const isFirst = ({ pool }: PlanWithPool, at: number) => plans.findIndex((each) => each.pool?.id === pool?.id) === at;
  const ofPools = plans.filter(isFirst).map(({ plan, pool }) => pool?.warning(wanted, many, plan.fallback));
  return [limit !== null && wanted > limit && tooMany, balance?.warning, ...ofPools].filter(
    (text) => typeof text === 'string',
  );
}

/** Returns each plan with its named pool, if it names one. */
async function withPools({ start, pools, plans }: RunChecks): Promise<PlanWithPool[]> {
  const found = [];
  for (const plan of plans) {
    const { pool: name } = plan;
    const find = () => start.step(`the service to find pool ${name}`, (signal) => pools.resolve(plan, signal));
    found.push({ plan, pool: typeof name === 'string' ? await find() : null });
  }
  return found;
}
