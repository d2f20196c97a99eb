import type { RunRecord } from '../../record/run-record.ts';
import type { ServiceClient } from '../../service/index.ts';

/** Bound on asking what is left of the balance, in ms: a figure is not worth a wait. */
const BALANCE_TIMEOUT_MS = 5_000;

/**
 * The workspace's balance before and after a run that is over; null where it is not known.
 * @param startCents before the run; null: the service did not say
 */
export async function balanceOf(client: ServiceClient, startCents: number | null): Promise<RunRecord['balance']> {
  if (startCents === null) return null;
  const left = await client.getBalance({ timeout: BALANCE_TIMEOUT_MS, retry: 'none' }).catch(() => null);
  return left && { startCents, endCents: left.balance_cents };
}
