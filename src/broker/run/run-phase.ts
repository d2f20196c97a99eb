import { setMaxListeners } from 'node:events';
import type { PoolwrightError } from '../../errors.ts';

/** The progress of a run's end: what the run stops waiting for. Each signal fires once and stays aborted. */
export class RunPhase {
  readonly #closing = new AbortController();
  readonly #responses = new AbortController();
  readonly #ends = new AbortController();
  /** Fires when the run leases no more browsers: it ends, or no browser can come. */
  readonly closing: AbortSignal = this.#closing.signal;
  /** Fires when the run stops waiting for responses to requests for browsers. */
  readonly responsesOver: AbortSignal = this.#responses.signal;
  /** Fires when the run stops waiting for confirmed ends. */
  readonly endsOver: AbortSignal = this.#ends.signal;

  constructor() {
    // Every pending request of the run listens to them.
    setMaxListeners(0, this.closing, this.responsesOver, this.endsOver);
  }

  /** Stops leasing browsers; waiting workers get this error. The first call wins. */
  close(reason: PoolwrightError): void {
    this.#closing.abort(reason);
  }

  giveUpResponses(): void {
    this.#responses.abort(new Error('no response in time'));
  }

  giveUpEnds(): void {
    this.#ends.abort(new Error('not confirmed in time'));
  }
}
