import { randomUUID } from 'node:crypto';
import type { LimitFunction } from 'p-limit';
import { type Clock, isoTime } from '../../common/clock.ts';
import { LIMITS } from '../../service/limits.ts';
import type { PoolStatus } from '../../service/schemas/pool.ts';
import { ApiError } from '../api-error.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import type { TemplateBody } from './browser-request.ts';
import type { BrowserSession } from './browser-session.ts';
import { WarmBrowsers } from './warm-browsers.ts';

/** A template and the browser it asks for. */
export interface PoolTemplate {
  body: TemplateBody;
  spec: BrowserSpec;
}

export interface PoolSettings {
  name: string;
  size: number;
  template: PoolTemplate;
  leaseTimeoutSeconds?: number | undefined;
  maxReadyAgeSeconds?: number | undefined;
}

export type PoolUpdate = Partial<PoolSettings> & { paused?: boolean | undefined };

export interface PoolContext {
  clock: Clock;
  warmSlots: LimitFunction;
  replaceAfterMs: number;
  /** A session by this template, not started and not listed. */
  createSession: (template: PoolTemplate) => BrowserSession;
  /** @throws ApiError 403 when the workspace may have no more browsers at once. */
  checkLimit: () => void;
  /** The session is the workspace's from now on, like any other. */
  adopt: (session: BrowserSession) => void;
}

/** Warm browsers by one template, handed out on leases. */
export class BrowserPool {
  readonly id = `pool_${randomUUID().replaceAll('-', '')}`;
  readonly createdAt: string;
  readonly leases: Leases;
  readonly #context: PoolContext;
  readonly #warm: WarmBrowsers;
  readonly #waiting: WaitQueue<Lease>;
  #settings: Required<PoolSettings>;
  #updatedAt: string;
  #paused = false;
  #deleting = false;

  constructor(settings: PoolSettings, context: PoolContext) {
    this.#context = context;
    this.#settings = {
      ...settings,
      leaseTimeoutSeconds: settings.leaseTimeoutSeconds ?? LIMITS.leaseTimeoutSeconds.default,
      maxReadyAgeSeconds: settings.maxReadyAgeSeconds ?? LIMITS.maxReadyAgeSeconds.default,
    };
    this.createdAt = isoTime(context.clock);
    this.#updatedAt = this.createdAt;
    this.leases = new Leases(context.clock);
    this.#waiting = new WaitQueue(context.clock);
    this.#warm = new WarmBrowsers({
      create: () => context.createSession(this.#settings.template),
      onReady: () => this.#serveWaiting(),
      slots: context.warmSlots,
      replaceAfterMs: context.replaceAfterMs,
      maxReadyAgeMs: () => this.#settings.maxReadyAgeSeconds * 1000,
      clock: context.clock,
    });
    void this.#warm.keep(settings.size);
  }

  get settings(): Readonly<Required<PoolSettings>> {
    return this.#settings;
  }

  get updatedAt(): string {
    return this.#updatedAt;
  }

  get counts(): { ready: number; starting: number; leased: number } {
    return { ready: this.#warm.ready, starting: this.#warm.starting, leased: this.leases.active.length };
  }

  get lastError(): string | null {
    return this.#warm.lastError;
  }

  get status(): PoolStatus {
    if (this.#deleting) return 'deleting';
    if (this.#paused) return 'paused';
    if (this.#warm.isFailing) return 'degraded';
    return this.#warm.ready >= this.#settings.size ? 'ready' : 'warming';
  }

  /**
   * Leases a ready browser, waiting up to `waitMs` for one; a `signal` that aborts gives up the place in the queue.
   * @throws ApiError 403 at the concurrency limit, 409 when paused or when nothing is ready in time.
   */
  async acquire(waitMs: number, signal?: AbortSignal): Promise<Lease> {
    this.#checkOpen();
    this.#context.checkLimit();
    // First come, first served, even if a browser has just become ready.
    if (this.#waiting.length === 0 && this.#warm.ready > 0) return this.#leaseReady();
    this.#warm.demand();
    if (waitMs === 0) throw noneReady();
    return await this.#waiting.wait(waitMs, noneReady, signal);
  }

  /** Stops every ready browser and warms fresh ones; returns how many were stopped. */
  flush(): Promise<number> {
    return this.#warm.flush();
  }

  /** Resolves when the browsers that the update makes superfluous are gone. */
  async update({ paused, ...changes }: PoolUpdate): Promise<void> {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    this.#settings = { ...this.#settings, ...Object.fromEntries(given) };
    this.#updatedAt = isoTime(this.#context.clock);
    if (paused !== undefined) this.#paused = paused;
    if (this.#paused) this.#waiting.rejectAll(isPaused);
    const sized = this.#warm.keep(this.#paused ? 0 : this.#settings.size);
    await Promise.all([sized, changes.template ? this.#warm.rebuild() : undefined]);
  }

  /** Ends everything: waiters, warm browsers and leases. */
  async delete(): Promise<void> {
    this.#deleting = true;
    this.#waiting.rejectAll(isBeingDeleted);
    await Promise.all([this.#warm.keep(0), this.leases.stopAll()]);
  }

  #checkOpen(): void {
    if (this.#deleting) throw isBeingDeleted();
    if (this.#paused) throw isPaused();
  }

  #serveWaiting(): void {
    // If the concurrency limit refuses a request, the next one gets the browser.
    while (this.#warm.ready > 0 && this.#waiting.length > 0) this.#waiting.serveFirst(() => this.#leaseReady());
  }

  #leaseReady(): Lease {
    this.#context.checkLimit();
    const session = this.#warm.take();
    if (!session) throw noneReady();
    this.#context.adopt(session);
    return this.leases.add(session, this.#settings.leaseTimeoutSeconds * 1000);
  }
}

function noneReady(): ApiError {
  return new ApiError(409, 'No browser is currently ready in this pool');
}

function isPaused(): ApiError {
  return new ApiError(409, 'Pool is paused');
}

function isBeingDeleted(): ApiError {
  return new ApiError(409, 'Pool is being deleted');
}

interface Lease {
  readonly leaseId: string;
  readonly session: BrowserSession;
}

/** The leases of one pool. A lease is active while its session lives; when it expires, the session is stopped. */
class Leases {
  readonly #clock: Clock;
  readonly #leases = new Map<string, Lease>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get active(): Lease[] {
    return [...this.#leases.values()].filter(({ session }) => session.isLive);
  }

  add(session: BrowserSession, timeoutMs: number): Lease {
    const lease = { leaseId: `lease_${randomUUID().replaceAll('-', '')}`, session };
    this.#leases.set(lease.leaseId, lease);
    const expiry = this.#clock.after(timeoutMs, () => void session.stop()).unref();
    session.onEnd(expiry.cancel);
    return lease;
  }

  /** @throws ApiError 404 */
  get(leaseId: string): Lease {
    const lease = this.#leases.get(leaseId);
    if (!lease) throw new ApiError(404, 'Pool lease not found');
    return lease;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.active.map(({ session }) => session.stop()));
  }
}

interface Waiter<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
  cancel: () => void;
}

/** Callers that wait for something, served in the order they came. */
class WaitQueue<T> {
  readonly #clock: Clock;
  readonly #waiters: Waiter<T>[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get length(): number {
    return this.#waiters.length;
  }

  /** Waits up to `ms`; rejects with `timeoutError` then, and at once when `signal` aborts (the caller has gone). */
  wait(ms: number, timeoutError: () => ApiError, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (error: Error) => {
        const index = this.#waiters.indexOf(waiter);
        if (index !== -1) this.#waiters.splice(index, 1);
        waiter.cancel();
        reject(error);
      };
      const onAbort = () => leave(timeoutError());
      const timer = this.#clock.after(ms, () => leave(timeoutError())).unref();
      const cancel = () => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter<T> = { resolve, reject, cancel };
      this.#waiters.push(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) onAbort();
    });
  }

  /** Gives the first caller what `produce` returns, or the error it throws. */
  serveFirst(produce: () => T): void {
    const waiter = this.#waiters.shift();
    if (!waiter) return;
    waiter.cancel();
    try {
      waiter.resolve(produce());
    } catch (error) {
      waiter.reject(error as Error);
    }
  }

  rejectAll(error: () => ApiError): void {
    for (const waiter of this.#waiters.splice(0)) {
      waiter.cancel();
      waiter.reject(error());
    }
  }
}
