import { largest } from '../../common/numbers/extremes.ts';
import { type HeldBrowser, type Holder, isFresh, lasts, type WorkerSlot } from '../browsers/held-browser.ts';

/** A worker's request for a browser. */
export interface WorkerRequest {
  readonly holder: Holder;
  readonly slot: WorkerSlot;
  /** Minimum remaining lifetime of the browser, in ms. */
  readonly needMs: number;
  /** Whether the worker accepts a browser that another worker has used. */
  readonly takesUsed: boolean;
  /**
   * Whether this is a prefetch. Workers that need a browser now come first, and so do workers that Playwright is
   * starting.
   */
  readonly prefetch: boolean;
  /** The test attempt during which the worker prefetches; undefined if the worker does not know it. */
  readonly during?: string | undefined;
}

/** Whether an idle browser satisfies this request. */
export function suits(held: HeldBrowser, { needMs, takesUsed }: WorkerRequest, now: number): boolean {
  if (lasts(held, needMs, now)) return takesUsed || isFresh(held);
  // If no browser lasts that long, accept a fresh one with at least half of its lifetime left: a new one lives no
  // longer.
  const lifetimeMs = held.browser.lifetimeSeconds * 1000;
  return isFresh(held) && lifetimeMs < needMs && lasts(held, lifetimeMs / 2, now);
}

/** A worker that waits for a browser. */
export interface Waiter extends WorkerRequest {
  /** ms since the epoch */
  readonly since: number;
  resolve(held: HeldBrowser): void;
  reject(error: unknown): void;
}

/** The workers that wait for browsers of one plan; the one that waits longest comes first. */
export class Waiters {
  readonly #inNeed: Waiter[] = [];
  readonly #prefetches: Waiter[] = [];

  /** Workers that need a browser now. */
  get inNeed(): readonly Waiter[] {
    return this.#inNeed;
  }

  get prefetches(): readonly Waiter[] {
    return this.#prefetches;
  }

  /** The longest time that one of them needs its browser for, in ms; 0: none waits. */
  get needMs(): number {
    const needs = [...this.#inNeed, ...this.#prefetches].map(({ needMs }) => needMs);
    return largest(needs, 0);
  }

  /**
   * Adds a worker, which waits until it gets a browser or is refused.
   * @param onLease called with the browser before its worker gets it
   * @param onGone called when `signal` fires; the promise rejects with its reason
   */
  add(
    request: WorkerRequest,
    since: number,
    signal: AbortSignal,
    { onLease, onGone }: { onLease(held: HeldBrowser): void; onGone(): void },
  ): Promise<HeldBrowser> {
    const queue = request.prefetch ? this.#prefetches : this.#inNeed;
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = queue.indexOf(waiter);
        if (at >= 0) queue.splice(at, 1);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        waiter.reject(signal.reason);
        onGone();
      };
      const waiter: Waiter = {
        ...request,
        since,
        resolve: (held) => {
          leave();
          onLease(held);
          resolve(held);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      queue.push(waiter);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Rejects every waiting worker with this error. */
  refuse(error: unknown): void {
    for (const waiter of [...this.#inNeed, ...this.#prefetches]) waiter.reject(error);
  }
}
