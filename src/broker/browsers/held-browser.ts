import { identityOf } from '../../common/browser-identity.ts';
import type { Timer } from '../../common/clock.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import type { GrantedBrowser } from '../../providers/port.ts';
import { recordedMs } from '../../record/bounds.ts';
import type { EndReason } from '../../record/enums.ts';
import type { SessionRecord } from '../../record/run-record.ts';
import type { SessionFacts } from '../../record/session-record.ts';
import type { LeasedBrowser } from '../rpc/messages/protocol.ts';

/** One browser that this run holds. */
export interface AcquiredBrowser extends GrantedBrowser {
  readonly startedAt: Date;
  /** When the lifetime ends, counted from the request, so rather too early than too late. */
  readonly expiresAt: Date;
}

/** The holder of a leased browser: one worker's connection. */
export type Holder = object;

/** The worker that a browser is for. */
export interface WorkerSlot {
  /** Name of the project. */
  project: string;
  /** `parallelIndex` of the worker. */
  index: number;
}

/**
 * One browser that the broker holds. `idle`: no worker has it; `leased`: a worker has it; `ending`: it is being given
 * back to the service (marked before the call, so that no worker gets it meanwhile); `ended`.
 */
export interface HeldBrowser {
  readonly browser: AcquiredBrowser;
  /** `req=` of its note. */
  readonly request: string;
  /** Its key in the ledger. */
  readonly entry: string;
  readonly plan: LeasePlan;
  /** The slot in the original request: its note names this slot until another note is written. */
  readonly askedFor: WorkerSlot;
  readonly record: SessionFacts;
  state: 'idle' | 'leased' | 'ending' | 'ended';
  holder: Holder | null;
  slot: WorkerSlot;
  idleTimer: Timer | null;
  /** Settles when the service has confirmed its end, or when all attempts are over. */
  ended: Promise<void> | null;
}

/** A browser that the service has just provided, and the request for it. */
export interface Fetched extends Pick<HeldBrowser, 'browser' | 'request' | 'entry' | 'plan' | 'slot'> {
  askedAt: Date;
  shard: SessionRecord['shard'];
}

/** Creates a browser that no worker holds yet. */
export function heldBrowser({ browser, request, entry, plan, slot, askedAt, shard }: Fetched): HeldBrowser {
  return {
    browser,
    request,
    entry,
    plan,
    askedFor: slot,
    state: 'idle',
    holder: null,
    slot,
    idleTimer: null,
    ended: null,
    record: {
      ...identityOf(browser),
      source: browser.leaseId === null ? 'session' : 'pool',
      type: browser.type,
      project: slot.project,
      parallelIndex: slot.index,
      shard,
      requestedAt: askedAt.toISOString(),
      startedAt: browser.startedAt.toISOString(),
      lentAt: null,
      endingAt: null,
      endedAt: null,
      startMs: recordedMs(browser.startedAt.getTime() - askedAt.getTime()),
      waitMs: 0,
      endReason: null,
      endConfirmed: false,
      workersServed: 0,
      bridgedBytes: 0,
      pictureBytes: 0,
      roundTripMs: null,
      carriedOrigins: [],
      bandwidthBytes: null,
      tests: [],
    },
  };
}

/** Leases it to a worker that has waited for `waitedMs`. `now`: ms since the epoch. */
export function leaseTo(held: HeldBrowser, holder: Holder, slot: WorkerSlot, waitedMs: number, now: number): void {
  stopIdling(held);
  held.state = 'leased';
  held.holder = holder;
  held.slot = slot;
  const { record } = held;
  record.workersServed += 1;
  if (record.workersServed > 1) return;
  record.project = slot.project;
  record.parallelIndex = slot.index;
  record.lentAt = new Date(now).toISOString();
  record.waitMs = recordedMs(waitedMs);
}

/** Marks it as held by no worker; `timer` limits how long. */
export function idle(held: HeldBrowser, timer: Timer): void {
  held.state = 'idle';
  held.holder = null;
  held.idleTimer = timer;
}

/** Records why and when it is being ended. `now`: ms since the epoch. */
export function markEnding(held: HeldBrowser, reason: EndReason, now: number): void {
  stopIdling(held);
  held.state = 'ending';
  held.holder = null;
  held.record.endReason = reason;
  held.record.endingAt = new Date(now).toISOString();
}

/** Records its end: the service has confirmed it, or all attempts are over. `now`: ms since the epoch. */
export function markEnded(held: HeldBrowser, now: number): void {
  held.state = 'ended';
  held.record.endedAt = new Date(now).toISOString();
}

/** Whether no worker has used it. */
export function isFresh(held: HeldBrowser): boolean {
  return held.record.workersServed === 0;
}

/** Undoes the lease of a prefetched browser that its worker returns before any test used it. */
export function takeBackUnused(held: HeldBrowser): void {
  const { record } = held;
  if (record.tests.length > 0) return;
  record.workersServed -= 1;
  if (record.workersServed > 0) return;
  record.lentAt = null;
  record.waitMs = 0;
}

/** Whether the service lets it live for this long from `now`, both in ms. */
export function lasts(held: HeldBrowser, ms: number, now: number): boolean {
  return held.browser.expiresAt.getTime() - now >= ms;
}

/**
 * Whether its end saves a profile. A pool's template is unknown here; the run does not wait for the profiles of its
 * browsers.
 */
export function savesProfile({ plan, browser }: HeldBrowser): boolean {
  return browser.leaseId === null && plan.session.profile?.persist === true;
}

/** The browser as it is sent to a worker. */
export function asMessage({ browser, record }: HeldBrowser): LeasedBrowser {
  return {
    ...identityOf(browser),
    type: browser.type ?? 'hosted',
    hasOwnState: browser.hasOwnState,
    runsAlready: browser.runsAlready ?? false,
    cdpUrl: browser.cdpUrl,
    headers: browser.headers,
    startedAt: record.startedAt,
    lifetimeMs: browser.lifetimeSeconds * 1000,
    expiresAt: browser.expiresAt.toISOString(),
    reused: record.workersServed > 1,
  };
}

function stopIdling(held: HeldBrowser): void {
  held.idleTimer?.cancel();
  held.idleTimer = null;
}

/**
 * Every browser that the run has acquired, one per session, in order of arrival. Ended browsers stay in the list: they
 * still belong to this run, so the capacity watch must not count their end as that of a foreign session.
 */
export class HeldBrowsers {
  readonly #bySession = new Map<string, HeldBrowser>();

  /** Adds a browser that has just arrived. */
  add(held: HeldBrowser): void {
    this.#bySession.set(held.browser.sessionId, held);
  }

  get(sessionId: string): HeldBrowser | null {
    return this.#bySession.get(sessionId) ?? null;
  }

  get all(): HeldBrowser[] {
    return [...this.#bySession.values()];
  }

  /** Browsers that are neither ended nor ending: the run's share of the workspace's limit. */
  get held(): HeldBrowser[] {
    return this.all.filter(({ state }) => state === 'leased' || state === 'idle');
  }

  /** Browsers that the service is asked to end. */
  get ending(): HeldBrowser[] {
    return this.all.filter(({ state }) => state === 'ending');
  }

  /** Browsers that this worker holds. */
  leasedBy(holder: Holder): HeldBrowser[] {
    return this.all.filter((held) => held.state === 'leased' && held.holder === holder);
  }
}
