import type { Clock } from '../../../common/clock.ts';

/** A limit of this many concurrent requests counts as no limit. */
const NO_LIMIT = 64;

/**
 * One backoff shared by all requests for browsers. When the service is overloaded, all of them wait until the same
 * moment. Then one request is sent, and each success doubles the number of concurrent requests.
 */
export class Backoff {
  /** Consecutive refusals, over all requests. */
  #refusals = 0;
  #notBefore = 0;
  /** Maximum number of concurrent requests. */
  #limit = NO_LIMIT;
  #pending = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of the next refusal in a row. Requests that are pending together and refused together count once. */
  get nextRefusal(): number {
    return this.#clock.now() >= this.#notBefore ? this.#refusals + 1 : this.#refusals;
  }

  /** The earliest moment for the next request, in ms since the epoch. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** Whether another request may be sent at this moment, in ms since the epoch. */
  isOpen(now: number): boolean {
    return now >= this.#notBefore && (this.#limit >= NO_LIMIT || this.#pending < this.#limit);
  }

  /** Counts a request that is sent. */
  begin(): void {
    this.#pending += 1;
  }

  /**
   * Counts a finished request. @param delayMs pause of all requests, because the service is overloaded; null: it is not
   */
  end(delayMs: number | null): void {
    this.#pending -= 1;
    if (delayMs === null) {
      this.#refusals = 0;
      if (this.#limit < NO_LIMIT) this.#limit *= 2;
    } else {
      this.#refusals = this.nextRefusal;
      this.#limit = 1;
      this.#notBefore = Math.max(this.#notBefore, this.#clock.now() + delayMs);
    }
  }
}
