import { PoolwrightError, ServiceError } from '../../../../src/errors.ts';
import type { CallOptions, Pool, ServiceClient } from '../../../../src/service/index.ts';
import type { FakeClock } from './fake-clock.ts';

/** Outcome of one call to the scripted service, including the retries of its client. */
export type Outcome =
  | 'ok'
  /** Refused with this status, without an effect. */
  | 400
  | 401
  | 402
  | 403
  | 409
  | 429
  | 503
  | 504
  /** No response, or 502 from the edge; with an effect or without. */
  | 'reset-done'
  | 'reset-undone'
  | 502
  /** A create that was reset with an effect, was not found, and was then refused. */
  | 'doubt-503'
  /** A create that made one more session than the one it returns. */
  | 'twin'
  /** A create whose session has no address. */
  | 'unusable';

/** A session at the service. */
export interface ScriptedSession {
  readonly sessionId: string;
  readonly ours: boolean;
  readonly poolId: string | null;
  readonly leaseId: string | null;
  note: string | null;
  running: boolean;
  /** Whether the run received a response about it; it cannot look up a pool's lease after a lost response. */
  told: boolean;
}

/** Outcomes that tell of a session … */
const MADE: ReadonlySet<Outcome> = new Set(['ok', 'twin', 'unusable'] as const);
/** … and of no other one. */
const PLAIN: ReadonlySet<Outcome> = new Set(['ok', 'unusable'] as const);

const CODES: Record<number, ServiceError['code']> = {
  400: 'SERVICE_BAD_REQUEST',
  401: 'SERVICE_UNAUTHORIZED',
  402: 'SERVICE_OUT_OF_CREDIT',
  403: 'SERVICE_FORBIDDEN',
  404: 'SERVICE_NOT_FOUND',
  409: 'SERVICE_CONFLICT',
  429: 'SERVICE_RATE_LIMITED',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_START_TIMEOUT',
};

function serviceError(status: number, code = CODES[status] ?? 'SERVICE_UNREACHABLE'): ServiceError {
  const retryable = status === 0 || status === 429 || status >= 500;
  return new ServiceError(code, `scripted ${status}`, { status, request: 'scripted', retryable });
}

const noAnswer = () => serviceError(0);

/** The service's client, as far as runs need it, in memory, on its own clock. */
export class ScriptedService {
  readonly sessions = new Map<string, ScriptedSession>();
  readonly pools = new Map<string, Pool & { ours: boolean; warm: number }>();
  /** Events that must never happen. */
  readonly violations: string[] = [];
  /** Outcomes of the next calls, by kind; then `ok`. */
  readonly script: Record<'ask' | 'end' | 'pool' | 'list', Outcome[]> = { ask: [], end: [], pool: [], list: [] };
  /** Duration of a response, in ms. */
  latency = 20;
  /** Limit of browsers; `unlisted`: warm browsers that count but are not in any list. */
  limit = Number.POSITIVE_INFINITY;
  unlisted = 0;
  /** Whether a create that its caller aborts still has its effect. */
  madeWhenAborted = false;
  /** Called before a browser ends: returns whether it may end now. */
  mayEnd: (sessionId: string) => boolean = () => true;
  releases = 0;
  /** Requests for browsers. */
  asks = 0;
  /** Requests that failed for another reason than the limit: the next parked request continues in their place. */
  failedAsks = 0;
  /** Retries after a 403 although no session has ended since. */
  idleRepeats = 0;

  private numbers = 0;
  /** Number of ended sessions so far. */
  private ends = 0;
  private over = false;
  /** By note: number of ended sessions when a request was sent that the limit refused. */
  private readonly refused = new Map<string, number>();
  /** Sessions whose end was confirmed. */
  private readonly confirmed = new Set<string>();

  constructor(private readonly clock: FakeClock) {}

  get running(): ScriptedSession[] {
    return [...this.sessions.values()].filter(({ running }) => running);
  }

  /** Adds a foreign session. */
  addOther(note: string | null = null): ScriptedSession {
    return this.start({ ours: false, note });
  }

  /** A session ends by itself. */
  lose(session: ScriptedSession): void {
    if (session.running) this.ends += 1;
    session.running = false;
  }

  addPool(name: string, { ours = false, note = '', warm = 1 } = {}): Pool {
    const id = `pool_${++this.numbers}`;
    const pool = { id, name, size: 1, status: 'ready', browser: { note }, leaseTimeoutSeconds: 900, ours, warm };
    this.pools.set(id, pool);
    return pool;
  }

  async createSession(...[body = {}, options = {}]: Parameters<ServiceClient['createSession']>) {
    const note = body.note ?? null;
    const make = () => this.start({ ours: true, note });
    const sent = options.signal?.aborted !== true;
    const given = () => sent && this.madeWhenAborted && make();
    options.signal?.addEventListener('abort', given, { once: true });
    const answered = this.ask(note ?? '', options, (outcome) => {
      const ambiguous = outcome === 502 || (typeof outcome === 'string' && !PLAIN.has(outcome));
      if (ambiguous) options.onDoubt?.();
      if (outcome === 'reset-done' || outcome === 'doubt-503' || outcome === 'twin') make();
      if (outcome === 'doubt-503') throw serviceError(503);
      if (!MADE.has(outcome)) throw failureOf(outcome);
      const session = make();
      session.told = true;
      options.onKnown?.(session.sessionId);
      return { ...this.shown(session), ...(outcome === 'unusable' && { cdpUrl: undefined }) };
    });
    return await answered.finally(() => options.signal?.removeEventListener('abort', given));
  }

  async acquire(...[poolId, , options = {}]: Parameters<ServiceClient['acquire']>) {
    return await this.ask(`acquire ${this.asks}`, options, (outcome) => {
      const pool = this.pools.get(poolId);
      if (!pool) throw serviceError(404);
      const lease = () => this.start({ ours: true, note: null, poolId, leaseId: `lease-${++this.numbers}` });
      if (outcome === 'reset-done') lease();
      if (!MADE.has(outcome)) throw failureOf(outcome === 'doubt-503' ? 503 : outcome);
      if (pool.warm === 0) throw serviceError(409, 'SERVICE_POOL_EMPTY');
      pool.warm -= 1;
      const session = lease();
      session.told = true;
      const { sessionId, leaseId } = session;
      options.onKnown?.({ sessionId, leaseId: leaseId ?? '' });
      return { leaseId: leaseId ?? '', poolId, sessionId, cdpUrl: 'wss://x/cdp', servedBy: null, createdAt: null };
    });
  }

  async release(...[poolId, leaseId, options = {}]: Parameters<ServiceClient['release']>) {
    this.releases += 1;
    const session = [...this.sessions.values()].find((each) => each.leaseId === leaseId);
    await this.end(session, options, 'release');
    return { leaseId, poolId, status: 'ended' };
  }

  async stopSession(...[sessionId, options = {}]: Parameters<ServiceClient['stopSession']>) {
    await this.end(this.sessions.get(sessionId), options, 'stop');
  }

  async getSession(...[sessionId, options = {}]: Parameters<ServiceClient['getSession']>) {
    await this.travel(options);
    const session = this.sessions.get(sessionId);
    if (!session) throw serviceError(404);
    return this.shown(session);
  }

  async updateSession(...[sessionId, { note }, options = {}]: Parameters<ServiceClient['updateSession']>) {
    await this.travel(options);
    const session = this.sessions.get(sessionId);
    if (!session?.running) throw serviceError(400);
    if (!session.ours) this.violations.push(`the note of ${sessionId}, another run's, was changed`);
    session.note = note ?? null;
    return this.shown(session);
  }

  async *iterateSessions(...[query = {}, options = {}]: Parameters<ServiceClient['iterateSessions']>) {
    await this.travel(options);
    if ((this.script.list.shift() ?? 'ok') !== 'ok') throw serviceError(503);
    if (query.status === 'active') for (const session of this.running) yield this.shown(session);
  }

  async listPools(options: CallOptions = {}) {
    await this.travel(options);
    if ((this.script.list.shift() ?? 'ok') !== 'ok') throw serviceError(503);
    return [...this.pools.values()];
  }

  async getPool(...[poolId, options = {}]: Parameters<ServiceClient['getPool']>) {
    await this.travel(options);
    const pool = this.pools.get(poolId);
    if (!pool) throw serviceError(404);
    return pool;
  }

  async createPool(...[{ name, browser }, options = {}]: Parameters<ServiceClient['createPool']>) {
    await this.travel(options);
    const outcome = this.script.pool.shift() ?? 'ok';
    const taken = [...this.pools.values()].some((pool) => pool.name === name);
    if (taken && (outcome === 'ok' || outcome === 'reset-done')) throw serviceError(409);
    if (outcome === 'reset-done') this.addPool(name, { ours: true, note: browser?.note, warm: 50 });
    if (outcome !== 'ok') throw failureOf(outcome === 'doubt-503' || MADE.has(outcome) ? 503 : outcome);
    return this.addPool(name, { ours: true, note: browser?.note, warm: 50 });
  }

  async deletePool(...[poolId, , options = {}]: Parameters<ServiceClient['deletePool']>) {
    await this.travel(options);
    const outcome = this.script.end.shift() ?? 'ok';
    const pool = this.pools.get(poolId);
    if (!pool) throw serviceError(404);
    if (!pool.ours) this.violations.push(`pool ${pool.name}, another run's, was deleted`);
    if (outcome !== 'ok' && outcome !== 'reset-done') throw failureOf(outcome);
    this.pools.delete(poolId);
    if (outcome === 'reset-done') throw noAnswer();
  }

  private start(how: Partial<ScriptedSession> & { ours: boolean; note: string | null }): ScriptedSession {
    const sessionId = `s-${++this.numbers}`;
    const session = { poolId: null, leaseId: null, ...how, sessionId, running: true, told: false };
    this.sessions.set(sessionId, session);
    return session;
  }

  private shown({ sessionId, running, note }: ScriptedSession) {
    return { sessionId, status: running ? 'active' : 'completed', cdpUrl: 'wss://x/cdp', note };
  }

  private async ask<T>(key: string, options: CallOptions, answer: (outcome: Outcome) => T): Promise<T> {
    this.asks += 1;
    if (this.over) this.violations.push('a browser was asked for although there is no credit, or no valid key');
    const refusedAt = this.refused.get(key);
    if (refusedAt !== undefined && refusedAt === this.ends) this.idleRepeats += 1;
    this.refused.delete(key);
    const endsWhenSent = this.ends;
    await this.travel(options);
    const outcome = this.script.ask.shift() ?? 'ok';
    // A session created at the moment of the abort exists all the same.
    if (this.running.length + this.unlisted >= this.limit && MADE.has(outcome)) {
      this.refused.set(key, endsWhenSent);
      throw serviceError(403, 'SERVICE_LIMIT_REACHED');
    }
    if (outcome === 401 || outcome === 402) this.over = true;
    if (outcome !== 'ok') this.failedAsks += 1;
    return answer(outcome);
  }

  private async end(session: ScriptedSession | undefined, options: CallOptions, how: 'release' | 'stop') {
    if (session && !session.ours) this.violations.push(`${session.sessionId}, another run's, was ended`);
    if (session && !this.mayEnd(session.sessionId)) this.violations.push(`${session.sessionId} was ended while leased`);
    if (session && this.confirmed.has(session.sessionId)) this.violations.push(`${session.sessionId} was ended twice`);
    await this.travel(options);
    const outcome = this.script.end.shift() ?? 'ok';
    if (!session) throw serviceError(404);
    if (outcome !== 'ok' && outcome !== 'reset-done') {
      // The service never refuses a stop (section 4.8).
      const refusal = typeof outcome === 'number' && outcome < 500 && outcome !== 429;
      if (!refusal || how === 'release') throw failureOf(outcome);
    }
    this.lose(session);
    if (outcome === 'reset-done') throw noAnswer();
    this.confirmed.add(session.sessionId);
  }

  /** The round trip; cut short when the caller aborts. */
  private async travel({ signal }: CallOptions): Promise<void> {
    const give = () =>
      signal?.reason instanceof PoolwrightError ? signal.reason : new PoolwrightError('ABORTED', 'scripted abort');
    if (signal?.aborted) throw give();
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        timer.cancel();
        reject(give());
      };
      const timer = this.clock.after(this.latency, () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      });
      signal?.addEventListener('abort', giveUp);
    });
  }
}

function failureOf(outcome: Outcome): ServiceError {
  if (outcome === 403) return serviceError(403);
  return typeof outcome === 'number' ? serviceError(outcome) : noAnswer();
}
