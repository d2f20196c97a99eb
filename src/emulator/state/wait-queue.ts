import type { Clock } from '../../common/clock.ts';
import type { ApiError } from '../api-error.ts';

interface Waiter<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
  cancel: () => void;
}

/** Callers that wait for something, served in the order they came. */
export class WaitQueue<T> {
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
