import type { LeasePlan } from '../../options/schema/plan.ts';
import type { Pool } from '../../service/schemas/index.ts';
import type { RunClient } from '../browsers/browser-service.ts';
import type { PoolDirectory } from '../pools/pool-directory.ts';
import type { RunSweep } from '../recovery/run-sweep.ts';
import { askAccount, type Preflight, preflight } from './preflight.ts';
import type { StartDeadline } from './start-deadline.ts';

/** What {@link checkRun} needs before a run leases its first browser. */
export interface RunChecks {
  client: Pick<RunClient, 'listSessions' | 'getBilling' | 'getBalance' | 'limited'>;
  /** The deadline for the start, which covers each step. */
  start: Pick<StartDeadline, 'step'>;
  /** Stops browsers that dead runs left; null: there cannot be any. */
  sweep: Pick<RunSweep, 'begin'> | null;
  /** Whether the run should have a ledger but has none. */
  lacksLedger: boolean;
  pools: Pick<PoolDirectory, 'resolve'>;
  plans: readonly LeasePlan[];
  workers: number;
  shard: { current: number; total: number } | null;
}

/** Results of the checks. */
export interface CheckedRun extends Pick<Preflight, 'limit' | 'balance'> {
  /** Sizes of the named pools, by the name or ID in the options. */
  poolSizes: ReadonlyMap<string, number>;
  /** Messages for the user, one line each. */
  notices: string[];
}

/** Deadline of the first call to the service, in ms: a wrong address is reported before the run begins. */
const CHECK_TIMEOUT_MS = 10_000;

const NO_LEDGER =
  "warning: no ledger of this run is kept: the project has no node_modules, and neither the home directory nor the one in the temporary directory is this user's alone. After a crash, browsers are found by their notes only";

/**
 * Runs the checks that need no browser, in this order: the service responds and accepts the key; the sweep of dead runs
 * starts; the named pools exist; limit, pools and balance are sufficient.
 * @throws ServiceError, OptionsError, PoolwrightError `TIMEOUT`: the run cannot begin
 */
export async function checkRun(checks: RunChecks): Promise<CheckedRun> {
  const { client, start, sweep, lacksLedger, workers, shard } = checks;
  const first = { timeout: CHECK_TIMEOUT_MS };
  // Requested at once, because the service may be far away; used only if the service accepts the key.
  const asked = askAccount(client);
  await start.step('the service to respond', (signal) => client.listSessions({ pageSize: 1 }, { ...first, signal }));
  const notices = sweep ? await sweep.begin() : [];
  if (lacksLedger) notices.push(NO_LEDGER);
  const plans = await withPools(checks);
  const { limit, balance, warnings } = preflight({
    account: await asked,
    limitedBy: client.limited?.by ?? 'the plan',
    workers,
    shard,
    plans,
  });
  const poolSizes = new Map(plans.flatMap(({ plan, pool }) => (pool ? [[String(plan.pool), pool.size] as const] : [])));
  return { limit, balance, poolSizes, notices: [...notices, ...warnings] };
}

/** Returns each plan with its named pool, if it names one. */
async function withPools({ start, pools, plans }: RunChecks): Promise<{ plan: LeasePlan; pool: Pool | null }[]> {
  const found = [];
  for (const plan of plans) {
    const { pool: name } = plan;
    const find = () => start.step(`the service to find pool ${name}`, (signal) => pools.resolve(plan, signal));
    found.push({ plan, pool: typeof name === 'string' ? await find() : null });
  }
  return found;
}
