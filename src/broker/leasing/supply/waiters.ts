import type { HeldBrowser } from '../../browsers/held-browser.ts';
import type { Asked } from './asked.ts';

/** A worker that waits for a browser. */
export interface Waiter extends Asked {
  /** ms since the epoch */
  readonly since: number;
  resolve(held: HeldBrowser): void;
  reject(error: unknown): void;
}

/** The workers that wait for browsers of one plan, the longest first. */
export class Waiters {
  readonly #all: Waiter[] = [];

  /** Those that need one now. */
  get inNeed(): Waiter[] {
    return this.#all.filter(({ ahead }) => !ahead);
  }

  /** Those that ask for later. */
  get ahead(): Waiter[] {
    return this.#all.filter(({ ahead }) => ahead);
  }

  /**
   * One more waits, until it is given a browser or refused.
   * @param lent called with the browser before its worker has it
   * @param gone called when `signal` has fired, with which the promise rejects
   */
  add(
    asked: Asked,
    since: number,
    signal: AbortSignal,
    { lent, gone }: { lent(held: HeldBrowser): void; gone(): void },
  ): Promise<HeldBrowser> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#all.indexOf(waiter);
        if (at >= 0) this.#all.splice(at, 1);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        waiter.reject(signal.reason);
        gone();
      };
      const waiter: Waiter = {
        ...asked,
        since,
        resolve: (held) => {
          leave();
          lent(held);
          resolve(held);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      this.#all.push(waiter);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Every one gets this error. */
  refuse(error: unknown): void {
    for (const waiter of [...this.#all]) waiter.reject(error);
  }
}
