import type { RunRecord } from '../../record/run-record.ts';
import type { ServiceClient } from '../../service/index.ts';

/** Deadline for the final balance, in ms: a figure is not worth a longer wait. */
const BALANCE_TIMEOUT_MS = 5_000;

/**
 * Returns the workspace's balance before and after a finished run; null if unknown.
 * @param startCents before the run; null: the service did not report it
 */
export async function balanceOf(client: ServiceClient, startCents: number | null): Promise<RunRecord['balance']> {
  if (startCents === null) return null;
  const left = await client.getBalance({ timeout: BALANCE_TIMEOUT_MS, retry: 'none' }).catch(() => null);
  return left && { startCents, endCents: left.balance_cents };
}
