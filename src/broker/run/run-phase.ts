import { setMaxListeners } from 'node:events';
import type { PoolwrightError } from '../../errors.ts';

/** The progress of a run's end: what the run stops waiting for. Each signal fires once and stays aborted. */
export class RunPhase {
  readonly #closing = new AbortController();
  readonly #responses = new AbortController();
  readonly #ends = new AbortController();

  constructor() {
    // Every pending request of the run listens to them.
    for (const { signal } of [this.#closing, this.#responses, this.#ends]) setMaxListeners(0, signal);
  }

  /** Fires when the run leases no more browsers: it ends, or no browser can come. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Fires when the run stops waiting for responses to requests for browsers. */
  get responsesOver(): AbortSignal {
    return this.#responses.signal;
  }

  /** Fires when the run stops waiting for confirmed ends. */
  get endsOver(): AbortSignal {
    return this.#ends.signal;
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
