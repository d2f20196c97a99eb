import type { Clock } from '../common/clock.ts';
import { pause } from '../common/pause.ts';
import { LeaseError, ServiceError } from '../errors.ts';
import { hasOwnState } from '../options/context-mode.ts';
import type { LeasePlan } from '../options/lease-plan.ts';
import { LIMITS } from '../service/limits.ts';
import type { Pool } from '../service/schemas/index.ts';
import type { AcquiredBrowser } from './acquired-browser.ts';
import type { BrowserService } from './browser-service.ts';

/** What getting a browser needs to know beside the plan. */
export interface AcquireContext {
  client: BrowserService;
  /** The pool to lease from; null to create a session. */
  pool: Pool | null;
  /** The note the session shall carry; unique, so that a create whose answer was lost is found by it. */
  note: string;
  /** Fires when the plan's `acquireTimeout` is over or the run ends. */
  signal: AbortSignal;
  /** Called with what is being waited for from now on. */
  onWait(what: Waiting): void;
  /** Called when a create's outcome is not known: whatever comes of it, there may be one session more with this note. */
  onDoubt(): void;
  /** Sends a request that takes a slot of the workspace's limit, when it is worth asking. Throws when `signal` fires. */
  withinLimit<T>(send: () => Promise<T>, onParked: (parked: boolean) => void): Promise<T>;
  clock: Clock;
}

/** What a request waits for: the service's answer, or, with nothing of it at the service, the limit or the pool. */
export type Waiting = 'answer' | 'capacity' | 'pool';

/** One long poll of the pool. Short enough that the end of a run need not wait long for its answer. */
const POOL_WAIT_MS = 5_000;
/**
 * With `fallback: 'session'`: how many rounds the pool gets before a session is created. In each the client asks as
 * often as its retry rules allow (three long polls).
 */
const POOL_POLLS_BEFORE_FALLBACK = 2;
/** Between two polls that were answered at once, so that a service without long polls is not hammered. */
const POOL_POLL_GAP_MS = 1_000;

/**
 * Gets one browser: from the pool with bounded waiting, then by `plan.fallback`; or by creating a session.
 * @throws ServiceError as the client does; LeaseError `ACQUIRE_TIMEOUT` when the signal fires.
 */
export async function acquireBrowser(plan: LeasePlan, context: AcquireContext): Promise<AcquiredBrowser> {
  if (context.pool !== null) {
    const polls = plan.fallback === 'fail' ? Number.POSITIVE_INFINITY : POOL_POLLS_BEFORE_FALLBACK;
    const acquired = await leaseFromPool(context, context.pool, polls);
    if (acquired) return acquired;
  }
  return await createSession(plan, context);
}

/** Null when the pool had nothing and a session shall be created instead. */
async function leaseFromPool(context: AcquireContext, pool: Pool, polls: number): Promise<AcquiredBrowser | null> {
  for (let poll = 1; ; poll += 1) {
    try {
      return await oneLease(context, pool);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 409) throw error;
      // A paused pool answers 409 too, but no waiting makes it ready.
      const hopeless = error.code !== 'SERVICE_POOL_EMPTY';
      if (Number.isFinite(polls) && (hopeless || poll >= polls)) {
        return null;
      }
      if (hopeless) throw error;
      context.onWait('pool');
      await pause(POOL_POLL_GAP_MS, context.signal, context.clock);
    }
  }
}

async function oneLease(context: AcquireContext, pool: Pool): Promise<AcquiredBrowser> {
  const { client, signal, clock } = context;
  const lifetimeSeconds = pool.leaseTimeoutSeconds ?? LIMITS.leaseTimeoutSeconds.default;
  const { answer: acquired, askedAt } = await ask(context, () =>
    client.acquire(pool.id, { waitMs: POOL_WAIT_MS }, { signal, retry: 'policy' }),
  );
  // The note says whose it is. Nobody waits for that, and a session without one is still good.
  client.updateSession(acquired.sessionId, { note: context.note }).catch(() => undefined);
  return {
    source: 'pool',
    sessionId: acquired.sessionId,
    leaseId: acquired.leaseId,
    poolId: pool.id,
    servedBy: acquired.servedBy,
    type: 'hosted',
    hasOwnState: hasOwnState(pool.browser ?? {}),
    cdpUrl: acquired.cdpUrl,
    startedAt: new Date(clock.now()),
    lifetimeSeconds,
    expiresAt: secondsAfter(askedAt, lifetimeSeconds),
  };
}

async function createSession(plan: LeasePlan, context: AcquireContext): Promise<AcquiredBrowser> {
  const lifetimeSeconds = plan.session.duration ?? LIMITS.duration.default;
  const body = { ...plan.session, note: context.note };
  const { client, signal, onDoubt, clock } = context;
  const { answer: session, askedAt } = await ask(context, () => client.createSession(body, { signal, onDoubt }));
  if (!session.cdpUrl) {
    await client.stopSession(session.sessionId).catch(() => undefined);
    throw new LeaseError(
      'CONNECT_FAILED',
      `Session ${session.sessionId} was created but has no CDP address; it was stopped.`,
      { sessionId: session.sessionId },
    );
  }
  return {
    source: 'session',
    sessionId: session.sessionId,
    leaseId: null,
    poolId: null,
    servedBy: session.servedBy ?? null,
    type: plan.session.type ?? 'hosted',
    hasOwnState: hasOwnState(plan.session),
    cdpUrl: session.cdpUrl,
    startedAt: new Date(clock.now()),
    lifetimeSeconds,
    expiresAt: secondsAfter(askedAt, lifetimeSeconds),
  };
}

/** Sends a request when it is worth asking; with its answer comes when that request was sent, in ms since the epoch. */
async function ask<T>(
  { withinLimit, onWait, clock }: AcquireContext,
  send: () => Promise<T>,
): Promise<{ answer: T; askedAt: number }> {
  let askedAt = clock.now();
  const timed = () => {
    askedAt = clock.now();
    return send();
  };
  const answer = await withinLimit(timed, (parked) => onWait(parked ? 'capacity' : 'answer'));
  return { answer, askedAt };
}

function secondsAfter(start: number, seconds: number): Date {
  return new Date(start + seconds * 1000);
}
