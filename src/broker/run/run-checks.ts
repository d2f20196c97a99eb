import type { LeasePlan } from '../../options/lease-plan.ts';
import type { ServiceClient } from '../../service/index.ts';
import type { Pool } from '../../service/schemas/index.ts';
import type { PoolDirectory } from '../pools/pool-directory.ts';
import type { RunSweep } from '../recovery/run-sweep.ts';
import { askAccount, type Preflight, preflight } from './preflight.ts';
import type { StartDeadline } from './start-deadline.ts';

/** What a run is checked with before it lends a browser. */
export interface RunChecks {
  client: Pick<ServiceClient, 'listSessions' | 'getBilling' | 'getBalance'>;
  /** The bound on the start, which each step keeps. */
  start: Pick<StartDeadline, 'step'>;
  /** Stops what dead runs left; null: there is nothing that could be left. */
  sweep: Pick<RunSweep, 'begin'> | null;
  /** Whether a ledger is missing that the run should have. */
  lacksLedger: boolean;
  pools: Pick<PoolDirectory, 'resolve'>;
  plans: readonly LeasePlan[];
  workers: number;
  shard: { current: number; total: number } | null;
}

/** What is known when a run begins. */
export interface CheckedRun extends Pick<Preflight, 'limit' | 'balance'> {
  /** What the user should know, one line each. */
  notices: string[];
}

/** Bound on the first call to the service, in ms: an address where nobody answers is said before the run begins. */
const CHECK_TIMEOUT_MS = 10_000;

const NO_LEDGER =
  "warning: no ledger of this run is kept: the project has no node_modules, and neither the home folder nor the one in the temporary folder is this user's alone. After a crash, browsers are found by their notes only";

/**
 * The checks that need no browser, in this order: the service answers and takes the key, what dead runs left is being
 * stopped, the named pools are there, and limit, pools and balance will do.
 * @throws ServiceError, OptionsError, PoolwrightError `TIMEOUT`: the run cannot begin
 */
export async function checkRun(checks: RunChecks): Promise<CheckedRun> {
  const { client, start, sweep, lacksLedger, workers, shard } = checks;
  const first = { timeout: CHECK_TIMEOUT_MS };
  // Asked at once, because a service may be far away; of use only when the service takes the key.
  const asked = askAccount(client);
  await start.step('the service to answer', (signal) => client.listSessions({ pageSize: 1 }, { ...first, signal }));
  const notices = sweep ? await sweep.begin() : [];
  if (lacksLedger) notices.push(NO_LEDGER);
  const plans = await withPools(checks);
  const { limit, balance, warnings } = preflight({ account: await asked, workers, shard, plans });
  return { limit, balance, notices: [...notices, ...warnings] };
}

/** Each plan with the pool that it names, if it names one. */
async function withPools({ start, pools, plans }: RunChecks): Promise<{ plan: LeasePlan; pool: Pool | null }[]> {
  const found = [];
  for (const plan of plans) {
    const { pool: name } = plan;
    const find = (named: string) => start.step(`the service to find pool ${named}`, () => pools.resolve(named));
    found.push({ plan, pool: typeof name === 'string' ? await find(name) : null });
  }
  return found;
}
