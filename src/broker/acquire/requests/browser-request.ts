import type { Clock } from '../../../common/clock.ts';
import { pause } from '../../../common/pause.ts';
import { LeaseError, PoolwrightError, type ServiceError } from '../../../errors.ts';
import { hasOwnState } from '../../../options/context-mode.ts';
import type { LeasePlan } from '../../../options/schema/plan.ts';
import type { ProvidedSession } from '../../../providers/provided-sessions.ts';
import type { EndReason } from '../../../record/enums.ts';
import { LIMITS } from '../../../service/limits.ts';
import { runningSessions } from '../../../service/running-sessions.ts';
import type { Pool, Session } from '../../../service/schemas/index.ts';
import type { AcquiredBrowser } from '../../browsers/acquired-browser.ts';
import type { BrowserService } from '../../browsers/browser-service.ts';
import type { Endable } from '../../browsers/end-lease.ts';
import { SurplusOrder } from '../pending-orders.ts';
import type { RequestAccount } from '../request-account.ts';
import { type Attempts, endsTheRun, type NextStep, nextStep } from './failure-policy.ts';

/** Polling interval for a found session that is still starting, in ms … */
const POLL_MS = 1_000;

/**
 * … and the number of polls: the service's own startup deadline is at most 3 minutes (section 8 of the service
 * document).
 */
const POLLS = 190;

/** What a request needs besides its plan. */
export interface RequestOptions {
  client: BrowserService;
  plan: LeasePlan;
  /** The pool to lease from; null: create a session. */
  pool: Pool | null;
  /** Who the browser is for. */
  project: string;
  /** How long it is needed at least, in ms; 0: unknown. */
  needMs(): number;
  /** The note of the session. It is unique, so that a create with a lost response can be found by it. */
  note: string;
  /** Aborts the request. */
  signal: AbortSignal;
  /** Fires when no more browsers are requested. */
  closes: AbortSignal;
  account: Pick<RequestAccount, 'known' | 'unused' | 'doubt' | 'certain'>;
  clock: Clock;
  random(): number;
}

/** Duration of one long poll of the pool. Short, so that the end of a run does not wait long for its response. */
const POOL_WAIT_MS = 5_000;

/**
 * One request for a browser: from the pool, then according to `plan.fallback`, or as a session. After a create with an
 * unknown outcome, the request looks for the session by its note before it sends another create.
 */
export class BrowserRequest {
  /** Number of requests sent to the service. */
  attempts = 0;
  #pool: Pool | null;
  /** Whether a create may have left a session. */
  #isDoubtful = false;
  /** The failure after which nothing more is created; an existing session may still be found. */
  #last: ServiceError | null = null;
  readonly #failures: Attempts['failures'] = new Map();
  /** Sessions of lost creates, by their note … */
  readonly #found = new Set<string>();
  /** … and those of them that are being ended. */
  readonly #unused = new Set<string>();

  readonly #options: RequestOptions;

  constructor(options: RequestOptions) {
    this.#options = options;
    this.#pool = options.pool;
  }

  /**
   * Sends one request.
   * @throws ServiceError, for which {@link next} decides the next step; LeaseError `CONNECT_FAILED`
   */
  async send(): Promise<AcquiredBrowser> {
    return this.#pool ? await this.#lease(this.#pool) : await this.#create();
  }

  /** Decides the next step after a failure of {@link send}. */
  next(error: ServiceError): NextStep {
    if (this.#last) return { do: 'fail' };
    const { plan, random } = this.#options;
    const from = this.#pool ? 'pool' : 'session';
    const step = nextStep(error, { from, fallback: plan.fallback, failures: this.#failures }, random);
    if (step.do === 'fall-back') this.#pool = null;
    if (step.do !== 'fail' || !this.#isDoubtful || endsTheRun(error)) return step;
    this.#last = error;
    return { do: 'retry', delayMs: 0, waitsFor: 'response' };
  }

  async #lease(pool: Pool): Promise<AcquiredBrowser> {
    const { client, note, signal, account, clock } = this.#options;
    const askedAt = this.#asks();
    const onKnown = (lease: { leaseId: string; sessionId: string }) => account.known({ ...lease, poolId: pool.id });
    const lease = await client.acquire(pool.id, { waitMs: POOL_WAIT_MS }, { signal, retry: 'none', onKnown });
    // The note tells whose session it is. A session without a note still works.
    client.updateSession(lease.sessionId, { note }).catch(() => undefined);
    const lifetimeSeconds = pool.leaseTimeoutSeconds ?? LIMITS.leaseTimeoutSeconds.default;
    return {
      source: 'pool',
      sessionId: lease.sessionId,
      leaseId: lease.leaseId,
      poolId: pool.id,
      servedBy: lease.servedBy,
      type: 'hosted',
      hasOwnState: hasOwnState(pool.browser ?? {}),
      cdpUrl: lease.cdpUrl,
      ...lifetime(askedAt, clock.now(), lifetimeSeconds),
    };
  }

  async #create(): Promise<AcquiredBrowser> {
    const { plan, clock } = this.#options;
    const askedAt = this.#asks();
    const session = await this.#createOrFind();
    const { sessionId, cdpUrl, servedBy, own } = session;
    if (!cdpUrl) {
      const problem = `Session ${sessionId} was created but has no CDP address.`;
      throw new LeaseError('CONNECT_FAILED', problem, { sessionId });
    }
    return {
      source: 'session',
      sessionId,
      leaseId: null,
      poolId: null,
      servedBy: servedBy ?? null,
      type: own ? null : (plan.session.type ?? 'hosted'),
      hasOwnState: hasOwnState(plan.session),
      runsAlready: own?.runsAlready,
      cdpUrl,
      headers: own?.headers,
      ...lifetime(
        askedAt,
        clock.now(),
        own ? (own.expiresAt.getTime() - askedAt) / 1000 : (plan.session.duration ?? LIMITS.duration.default),
      ),
    };
  }

  async #createOrFind(): Promise<ProvidedSession> {
    const { client, plan, project, needMs, note, signal, closes, account } = this.#options;
    const found = this.#isDoubtful ? await this.#findCreated() : null;
    if (found) return found;
    if (this.#last) throw this.#last;
    if (closes.aborted) throw new SurplusOrder();
    const onDoubt = () => {
      this.#isDoubtful = true;
      account.doubt();
    };
    const wasDoubtful = this.#isDoubtful;
    const session = await client.createSession(
      { ...plan.session, note },
      {
        signal,
        retry: 'none',
        project,
        needMs: needMs(),
        onDoubt,
        onCertain: () => account.certain(),
        onKnown: (sessionId) => account.known(created(sessionId)),
        onUnused: (sessionId) => account.unused(created(sessionId), 'idle'),
      },
    );
    // The session exists: a failed search for duplicates must not lose it.
    if (wasDoubtful) await this.#endTwins(session.sessionId).catch(ignoreFailure);
    return session;
  }

  /** Returns the session of a create with a lost response, once it is active, and ends duplicates; null: none. */
  async #findCreated(): Promise<Session | null> {
    const { client, signal, account, clock } = this.#options;
    for (let poll = 1; ; poll += 1) {
      const [kept, ...twins] = await this.#withNote();
      for (const { sessionId } of twins) this.#end(sessionId, 'idle');
      if (!kept) return null;
      account.known(created(kept.sessionId));
      this.#isFound(kept.sessionId);
      const session = kept.cdpUrl ? kept : await client.getSession(kept.sessionId, { signal });
      if (session.status === 'active' && session.cdpUrl) return session;
      // One that has no address, and is not starting, will not get one.
      if (poll >= POLLS || session.status === 'completed') this.#end(kept.sessionId, 'connect-failed');
      await pause(POLL_MS, signal, clock);
    }
  }

  /** Ends the sessions that lost creates left, except the one to keep. */
  async #endTwins(keep: string): Promise<void> {
    for (const { sessionId } of await this.#withNote()) if (sessionId !== keep) this.#end(sessionId, 'idle');
  }

  /** A create makes one session at most: what became of it is known. */
  #isFound(sessionId: string): void {
    if (!this.#found.has(sessionId)) this.#options.account.certain();
    this.#found.add(sessionId);
  }

  #end(sessionId: string, reason: EndReason): void {
    this.#isFound(sessionId);
    this.#unused.add(sessionId);
    this.#options.account.unused(created(sessionId), reason);
  }

  /** The sessions with the note of this request, but for those that are being ended. */
  async #withNote(): Promise<Session[]> {
    const { client, note, signal } = this.#options;
    const found: Session[] = [];
    for await (const session of runningSessions(client, { signal })) {
      if (session.note === note && !this.#unused.has(session.sessionId)) found.push(session);
    }
    return found;
  }

  /** Counts one more request and returns its time, in ms since the epoch. */
  #asks(): number {
    this.attempts += 1;
    return this.#options.clock.now();
  }
}

function lifetime(askedAt: number, now: number, lifetimeSeconds: number) {
  return { startedAt: new Date(now), lifetimeSeconds, expiresAt: new Date(askedAt + lifetimeSeconds * 1000) };
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof PoolwrightError)) throw error;
}

function created(sessionId: string): Endable {
  return { sessionId, leaseId: null, poolId: null };
}
