import pTimeout from 'p-timeout';
import { clearTimeout, monotonicNow, setTimeout } from '../../common/clock.ts';

/** One time limit for several steps. */
export class TimeLimit {
  readonly #start = monotonicNow();
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** How long it has run, in ms. */
  get passedMs(): number {
    return Math.round(monotonicNow() - this.#start);
  }

  /** @throws TimeoutError when the step takes longer than what is left */
  async step<T>(work: Promise<T>): Promise<T> {
    return await pTimeout(work, {
      milliseconds: Math.max(1, this.#ms - this.passedMs),
      message: 'not ready in time',
      customTimers: { setTimeout, clearTimeout },
    });
  }
}
