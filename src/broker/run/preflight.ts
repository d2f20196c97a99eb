import type { LeasePlan } from '../../options/schema/plan.ts';
import type { CallOptions, ServiceClient } from '../../service/index.ts';
import type { AccountBalance, AccountBilling, Pool } from '../../service/schemas/index.ts';

/** Checks before a run whether it will get its browsers. */

/** The service's account data; null if the service does not respond, or not for this key. */
export interface Account {
  billing: AccountBilling | null;
  balance: AccountBalance | null;
}

export interface PreflightOptions {
  account: Account;
  /** What sets the limit: the plan, or the user's own provider. */
  limitedBy: string;
  workers: number;
  shard: { current: number; total: number } | null;
  /** Every plan of the run with its named pool, if it names one. */
  plans: { plan: LeasePlan; pool: Pool | null }[];
}

export interface Preflight {
  /** `plan.concurrent_browsers`; null if the service does not report it. */
  limit: number | null;
  /** `balance_cents`; null if the service does not report it. */
  balance: number | null;
  /** One line each, for the user. */
  warnings: string[];
}

/** Deadline of each request, in ms: a warning is not worth a longer wait. */
const TIMEOUT_MS = 5_000;

/** Requests the account data. Never rejects: a run does not fail because an account endpoint fails. */
export async function askAccount(client: Pick<ServiceClient, 'getBilling' | 'getBalance'>): Promise<Account> {
  const options: CallOptions = { timeout: TIMEOUT_MS, retry: 'none' };
  const [billing, balance] = await Promise.all([
    client.getBilling(options).catch(() => null),
    client.getBalance(options).catch(() => null),
  ]);
  return { billing, balance };
}

/** Compares the run's demand with the plan, the pools and the balance. */
export function preflight({ account, limitedBy, workers, shard, plans }: PreflightOptions): Preflight {
  const { billing, balance } = account;
  const limit = billing?.plan?.concurrent_browsers ?? null;
  const wanted = workers * (shard?.total ?? 1);
  const many = shard ? `${workers} workers × ${shard.total} shards` : `${workers} workers`;
  const warnings: string[] = [];
  if (limit !== null && wanted > limit) {
    warnings.push(
      `${many} want ${wanted} browsers, and ${limitedBy} allows ${limit} at once: some workers will wait for others to finish`,
    );
  }
  if (balance && balance.balance_cents <= 0) {
    warnings.push(`the workspace's balance is ${money(balance.balance_cents)}: no browser will start (402)`);
  }
  const seen = new Set<string>();
  for (const { plan, pool } of plans) {
    if (!pool || seen.has(pool.id)) continue;
    seen.add(pool.id);
    const warning = poolWarning(pool, wanted, many, plan.fallback);
    if (warning) warnings.push(warning);
  }
  return { limit, balance: balance?.balance_cents ?? null, warnings: warnings.map((warning) => `warning: ${warning}`) };
}

function poolWarning(pool: Pool, wanted: number, many: string, fallback: LeasePlan['fallback']): string | null {
  const name = `pool ${pool.name} (${pool.id})`;
  const instead =
    fallback === 'session'
      ? 'sessions are created instead'
      : "workers wait, and fail at `acquireTimeout` (`fallback: 'fail'`)";
  if (pool.status === 'paused' || pool.status === 'deleting') return `${name} is ${pool.status}: ${instead}`;
  if (pool.status === 'degraded') {
    const error = pool.lastError ? `, its last error: "${pool.lastError}"` : '';
    return `${name} is degraded (${pool.ready ?? 0} of ${pool.size} ready${error})`;
  }
  if (wanted <= pool.size) return null;
  return `${many} want ${wanted} browsers of ${name}, which keeps ${pool.size} warm: the others take a browser's start longer`;
}

function money(cents: number): string {
  return `${cents} cents`;
}
