import { type AcquiredBrowser, type HeldBrowser, heldBrowser } from '../../../../src/broker/browsers/held-browser.ts';
import type { LeasePlan } from '../../../../src/options/schema/plan.ts';
import { planOf } from './broker-parts.ts';
import type { FakeClock } from './fake-clock.ts';

const HOUR_S = 3_600;

/** Creates a browser that has just arrived, in a new session unless a lease is given. */
export function freshBrowser(
  clock: FakeClock,
  sessionId: string,
  { plan = planOf(), browser = {} }: { plan?: LeasePlan; browser?: Partial<AcquiredBrowser> } = {},
): HeldBrowser {
  const now = new Date(clock.now());
  return heldBrowser({
    browser: {
      sessionId,
      leaseId: null,
      poolId: null,
      servedBy: null,
      type: 'hosted',
      hasOwnState: false,
      cdpUrl: 'wss://x',
      startedAt: now,
      lifetimeSeconds: HOUR_S,
      expiresAt: new Date(now.getTime() + HOUR_S * 1000),
      ...browser,
    },
    request: `r-${sessionId}`,
    entry: `r-${sessionId}`,
    plan,
    slot: { project: 'p', index: 0 },
    askedAt: now,
    shard: null,
  });
}
