import { setMaxListeners } from 'node:events';
import type { PoolwrightError } from '../../errors.ts';

/** How far a run is with its end: what is not waited for any more. Each signal fires once, and none is taken back. */
export class RunPhase {
  readonly #closing = new AbortController();
  readonly #answers = new AbortController();
  readonly #ends = new AbortController();

  constructor() {
    // Every request of the run listens to them, as long as it is under way.
    for (const { signal } of [this.#closing, this.#answers, this.#ends]) setMaxListeners(0, signal);
  }

  /** Fires when no browser is lent any more: the run ends, or nothing will come. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Fires when answers to requests for browsers are not waited for any more. */
  get answersOver(): AbortSignal {
    return this.#answers.signal;
  }

  /** Fires when the service's word on the ends is not waited for any more. */
  get endsOver(): AbortSignal {
    return this.#ends.signal;
  }

  /** No browser is lent any more; who waits gets this error. The first one counts. */
  close(reason: PoolwrightError): void {
    this.#closing.abort(reason);
  }

  giveUpAnswers(): void {
    this.#answers.abort(new Error('not answered in time'));
  }

  giveUpEnds(): void {
    this.#ends.abort(new Error('not confirmed in time'));
  }
}
