import pTimeout from 'p-timeout';
import { clearTimeout, monotonicNow, setTimeout } from '../../common/clock.ts';

/** Limits of the evidence of one failed test. */

/** Time for all of it, in ms: a page that hangs costs all of it, and a busy machine needs seconds for a screenshot. */
export const LIMIT_MS = 6_000;
/** Time that is left for the list of its files, in ms. */
export const LIST_MS = 100;
export const MAX_PAGES = 5;
/** Length of a line, an address or a script's place, in characters. */
export const MAX_TEXT = 1_000;
/** Size of a page's HTML, in bytes. */
export const MAX_HTML = 1_000_000;
/** How much more is read before secrets are masked, in characters: a secret that the limit cuts would not be found. */
export const SPARE = 1_000;

/** Cuts a masked text. @param wasCut whether the text was already cut before: its end may be a part of a secret */
export function cut(masked: string, wasCut: boolean, limit: number): string {
  return (wasCut ? masked.slice(0, -SPARE) : masked).slice(0, limit);
}

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
