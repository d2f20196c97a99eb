/** From which round trip on it is worth the trouble, in ms: nearer browsers are left as they are. */
export const FAR_MS = 5;

/**
 * How far away the browser of one link is, and what was saved on the way to it. Measured, not guessed: the distance is
 * the shortest time in which anything was answered; saved is what an answer came earlier than it would have come if it
 * had been asked for when the client asked.
 */
export class Savings {
  readonly #farMs: number;
  readonly #now: () => number;
  #shortest = Number.POSITIVE_INFINITY;
  #saved = 0;
  /** What the longest one of the present flight has saved: commands that are sent together wait together. */
  #inFlight = 0;

  /** @param farMs from which round trip on something is sent ahead; 5 ms unless given */
  constructor(farMs = FAR_MS, now = () => performance.now()) {
    this.#farMs = farMs;
    this.#now = now;
  }

  /** Round trip to the browser, in ms; null while nothing was answered. */
  get roundTripMs(): number | null {
    return Number.isFinite(this.#shortest) ? this.#shortest : null;
  }

  /** What was saved so far, in ms. */
  get savedMs(): number {
    return this.#saved;
  }

  /** Whether the browser is known to be so far away that there is something to save. */
  get isFar(): boolean {
    return Number.isFinite(this.#shortest) && this.#shortest >= this.#farMs;
  }

  now(): number {
    return this.#now();
  }

  /** Something was answered by the browser itself, after `ms`. */
  measured(ms: number): void {
    this.#shortest = Math.min(this.#shortest, ms);
  }

  /** The client gets a message: what it sends from now on had to wait for that. */
  told(): void {
    this.#inFlight = 0;
  }

  /** The client asks now for what was sent at `sentAt`; now, for what it is answered without asking the browser. */
  used(sentAt?: number): void {
    const whole = this.roundTripMs ?? 0;
    const saved = sentAt === undefined ? whole : Math.min(whole, this.#now() - sentAt);
    this.#saved += Math.max(0, saved - this.#inFlight);
    this.#inFlight = Math.max(this.#inFlight, saved);
  }
}
