import { WaitingLine } from './waiting-line.ts';

/** One backoff for every request for a browser, so that many who wait do not ask at once when the service is back. */

/** So many at a time count as "as many as want to". */
const NO_LIMIT = 64;

/**
 * After a `429` or `503` everybody waits until the same moment; then one asks, and each success doubles how many may
 * ask at a time. Who waited longest goes first.
 */
export class SharedBackoff {
  /** Refusals in a row, over all callers. */
  #refusals = 0;
  #notBefore = 0;
  /** How many may be under way at a time. */
  #limit = NO_LIMIT;
  #underway = 0;
  readonly #line = new WaitingLine();
  #timer: NodeJS.Timeout | null = null;

  /** Refusals in a row so far; grows the wait. */
  get inARow(): number {
    return this.#refusals;
  }

  /** Waits for this caller's turn, and takes it. Rejects when the signal fires. Every turn must be {@link end}ed. */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#line.length === 0 && this.#open()) {
      this.#underway += 1;
      return;
    }
    const turn = this.#line.join(signal);
    this.#admit();
    try {
      await turn;
    } catch (error) {
      this.#admit(); // the timer was set for who has given up
      throw error;
    }
  }

  /** A turn is over: the service refused for overload (nobody asks for `delayMs`), or it did not. */
  end(refused: { delayMs: number } | null): void {
    this.#underway -= 1;
    if (refused) {
      // Those under way together were refused together: that is one refusal, not many.
      if (Date.now() >= this.#notBefore) this.#refusals += 1;
      this.#limit = 1;
      this.#notBefore = Math.max(this.#notBefore, Date.now() + refused.delayMs);
    } else {
      this.#refusals = 0;
      if (this.#limit < NO_LIMIT) this.#limit *= 2;
    }
    this.#admit();
  }

  #open(now = Date.now()): boolean {
    return now >= this.#notBefore && (this.#limit >= NO_LIMIT || this.#underway < this.#limit);
  }

  #admit(): void {
    // Looked at once: a moment that passed between two looks would be waited for by no timer.
    const now = Date.now();
    while (this.#line.length > 0 && this.#open(now)) {
      this.#underway += 1;
      this.#line.next();
    }
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const wait = this.#notBefore - now;
    if (this.#line.length > 0 && wait > 0) this.#timer = setTimeout(() => this.#admit(), wait);
  }
}
