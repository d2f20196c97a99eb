import type { LeasePlan } from '../../options/lease-plan.ts';
import type { CallOptions, ServiceClient } from '../../service/index.ts';
import type { AccountBalance, AccountBilling, Pool } from '../../service/schemas/index.ts';

/** What can be known before a run about whether it will get its browsers. */

/** What the service says of the workspace; null where it does not answer, or not to this key. */
export interface Account {
  billing: AccountBilling | null;
  balance: AccountBalance | null;
}

export interface PreflightOptions {
  account: Account;
  workers: number;
  shard: { current: number; total: number } | null;
  /** Every plan of the run, with the pool it names, where it names one. */
  plans: { plan: LeasePlan; pool: Pool | null }[];
}

export interface Preflight {
  /** `plan.concurrent_browsers`; null where the service does not say. */
  limit: number | null;
  /** `balance_cents`; null where the service does not say. */
  balance: number | null;
  /** One line each, for the user. */
  warnings: string[];
}

/** Bound on each question, in ms: a warning is not worth a wait. */
const TIMEOUT_MS = 5_000;

/** Asks for what the account says. Never rejects: an account endpoint that does not answer is no reason not to run. */
export async function askAccount(client: Pick<ServiceClient, 'getBilling' | 'getBalance'>): Promise<Account> {
  const options: CallOptions = { timeout: TIMEOUT_MS, retry: 'none' };
  const [billing, balance] = await Promise.all([
    client.getBilling(options).catch(() => null),
    client.getBalance(options).catch(() => null),
  ]);
  return { billing, balance };
}

/** Holds what the run may want against the plan, the pools and the balance. */
export function preflight({ account, workers, shard, plans }: PreflightOptions): Preflight {
  const { billing, balance } = account;
  const limit = billing?.plan?.concurrent_browsers ?? null;
  const wanted = workers * (shard?.total ?? 1);
  const many = shard ? `${workers} workers × ${shard.total} shards` : `${workers} workers`;
  const warnings: string[] = [];
  if (limit !== null && wanted > limit) {
    warnings.push(
      `${many} want ${wanted} browsers, and the plan allows ${limit} at once: some workers will wait for others to finish`,
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
