import type { Lease } from '../lease/lease.ts';
import { type LeasePlan, planKey } from '../options/lease-plan.ts';
import type { LeasedBrowser } from './protocol.ts';
import type { EndReason, SessionRecord } from './run-record.ts';

/** Who a browser is lent to: one worker's connection. */
export type Holder = object;

/**
 * One browser on the broker's books. `claimed`: a worker has it; `idle`: kept for the next worker of the same plan;
 * `ending`: being given back to the service (marked before the call, so that nothing hands it on meanwhile); `ended`.
 */
export interface HeldBrowser {
  readonly lease: Lease;
  /** Plans with this key may use it. */
  readonly planKey: string;
  readonly reuse: LeasePlan['reuse'];
  readonly record: SessionRecord;
  state: 'claimed' | 'idle' | 'ending' | 'ended';
  holder: Holder | null;
  idleTimer: NodeJS.Timeout | null;
  /** Settles when the service has confirmed its end, or all tries are over. */
  ended: Promise<void> | null;
}

/** A fresh browser, claimed by the worker that asked for it. */
export function heldBrowser(
  lease: Lease,
  plan: LeasePlan,
  holder: Holder,
  asked: { project: string; parallelIndex: number; at: Date },
): HeldBrowser {
  return {
    lease,
    planKey: planKey(plan),
    reuse: plan.reuse,
    state: 'claimed',
    holder,
    idleTimer: null,
    ended: null,
    record: {
      sessionId: lease.sessionId,
      leaseId: lease.leaseId,
      poolId: lease.poolId,
      servedBy: lease.servedBy,
      source: lease.source,
      project: asked.project,
      parallelIndex: asked.parallelIndex,
      requestedAt: asked.at.toISOString(),
      startedAt: lease.startedAt.toISOString(),
      endedAt: null,
      waitMs: Date.now() - asked.at.getTime(),
      endReason: null,
      endConfirmed: false,
      testsServed: 0,
      workersServed: 1,
      observedBytes: 0,
      bandwidthBytes: null,
      infrastructureFailures: [],
    },
  };
}

/** The browser as it goes to a worker. */
export function asMessage(held: HeldBrowser): LeasedBrowser {
  const { lease, record } = held;
  return {
    sessionId: lease.sessionId,
    leaseId: lease.leaseId,
    poolId: lease.poolId,
    servedBy: lease.servedBy,
    cdpUrl: lease.cdpUrl,
    startedAt: record.startedAt,
    expiresAt: lease.expiresAt?.toISOString() ?? null,
    reused: record.workersServed > 1,
  };
}

/** Notes why and when a browser ended. */
export function markEnding(held: HeldBrowser, reason: EndReason): void {
  held.state = 'ending';
  held.holder = null;
  if (held.idleTimer) clearTimeout(held.idleTimer);
  held.idleTimer = null;
  held.record.endReason = reason;
}
