import type { Timer } from '../../common/clock.ts';
import type { AcquiredBrowser } from '../../lease/acquired-browser.ts';
import type { LeasePlan } from '../../options/lease-plan.ts';
import type { EndReason, SessionRecord } from '../../record/run-record.ts';
import type { SessionFacts } from '../../record/session-record.ts';
import type { LeasedBrowser } from '../rpc/protocol.ts';

/** Who a browser is lent to: one worker's connection. */
export type Holder = object;

/** Whose place a browser fills: the project, and the worker's `parallelIndex`. */
export interface WorkerSlot {
  project: string;
  slot: number;
}

/**
 * One browser on the broker's books. `idle`: nobody has it yet, or no longer; `claimed`: a worker has it; `ending`:
 * being given back to the service (marked before the call, so that nothing hands it on meanwhile); `ended`.
 */
export interface HeldBrowser {
  readonly lease: AcquiredBrowser;
  /** `req=` of its note, and its key in the ledger. */
  readonly request: string;
  readonly plan: LeasePlan;
  readonly record: SessionFacts;
  state: 'idle' | 'claimed' | 'ending' | 'ended';
  holder: Holder | null;
  place: WorkerSlot;
  idleTimer: Timer | null;
  /** Settles when the service has confirmed its end, or all tries are over. */
  ended: Promise<void> | null;
}

/** When a browser was asked for, and by which shard. */
export interface Asked {
  at: Date;
  shard: SessionRecord['shard'];
}

/** A browser that the service has just given, not yet lent. */
export function heldBrowser(
  lease: AcquiredBrowser,
  request: string,
  plan: LeasePlan,
  place: WorkerSlot,
  asked: Asked,
): HeldBrowser {
  return {
    lease,
    request,
    plan,
    state: 'idle',
    holder: null,
    place,
    idleTimer: null,
    ended: null,
    record: {
      sessionId: lease.sessionId,
      leaseId: lease.leaseId,
      poolId: lease.poolId,
      servedBy: lease.servedBy,
      source: lease.source,
      type: lease.type,
      project: place.project,
      parallelIndex: place.slot,
      shard: asked.shard,
      requestedAt: asked.at.toISOString(),
      startedAt: lease.startedAt.toISOString(),
      lentAt: null,
      endingAt: null,
      endedAt: null,
      startMs: lease.startedAt.getTime() - asked.at.getTime(),
      waitMs: 0,
      endReason: null,
      endConfirmed: false,
      workersServed: 0,
      bridgedBytes: 0,
      bandwidthBytes: null,
      tests: [],
    },
  };
}

/** Lends it. `waitedMs`: how long the worker has waited for it. `now`: ms since the epoch. */
export function claim(held: HeldBrowser, holder: Holder, place: WorkerSlot, waitedMs: number, now: number): void {
  held.idleTimer?.cancel();
  held.idleTimer = null;
  held.state = 'claimed';
  held.holder = holder;
  held.place = place;
  const { record } = held;
  record.workersServed += 1;
  if (record.workersServed > 1) return;
  record.project = place.project;
  record.parallelIndex = place.slot;
  record.lentAt = new Date(now).toISOString();
  record.waitMs = waitedMs;
}

/** Whether no worker has used it. */
export function isFresh(held: HeldBrowser): boolean {
  return held.record.workersServed === 0;
}

/** A worker that leased it ahead lets go of it before any test used it: as if it had never been lent. */
export function takeBackUnused(held: HeldBrowser): void {
  const { record } = held;
  if (record.tests.length > 0) return;
  record.workersServed -= 1;
  if (record.workersServed > 0) return;
  record.lentAt = null;
  record.waitMs = 0;
}

/** Whether the service will let it live that long from `now` on, both in ms. */
export function lasts(held: HeldBrowser, ms: number, now: number): boolean {
  return held.lease.expiresAt.getTime() - now >= ms;
}

/** The browser as it goes to a worker. */
export function asMessage(held: HeldBrowser): LeasedBrowser {
  const { lease, record } = held;
  return {
    sessionId: lease.sessionId,
    leaseId: lease.leaseId,
    poolId: lease.poolId,
    servedBy: lease.servedBy,
    type: lease.type,
    hasOwnState: lease.hasOwnState,
    cdpUrl: lease.cdpUrl,
    startedAt: record.startedAt,
    lifetimeMs: lease.lifetimeSeconds * 1000,
    expiresAt: lease.expiresAt.toISOString(),
    reused: record.workersServed > 1,
  };
}

/** Notes why and when a browser ended. `now`: ms since the epoch. */
export function markEnding(held: HeldBrowser, reason: EndReason, now: number): void {
  held.state = 'ending';
  held.holder = null;
  held.idleTimer?.cancel();
  held.idleTimer = null;
  held.record.endReason = reason;
  held.record.endingAt = new Date(now).toISOString();
}
