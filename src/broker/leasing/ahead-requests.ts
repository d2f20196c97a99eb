import { LeaseError } from '../../errors.ts';
import type { Holder } from '../browsers/held-browser.ts';

/** The requests of workers for browsers that they do not need yet, so that each worker can take its own back. */
export class AheadRequests {
  readonly #parked = new Map<Holder, Set<AbortController>>();

  /** A request begins; its signal fires when its worker takes it back. Call `done` when it is over. */
  begin(holder: Holder): { signal: AbortSignal; done(): void } {
    const cancelled = new AbortController();
    const own = this.#parked.get(holder) ?? new Set();
    this.#parked.set(holder, own.add(cancelled));
    const done = () => {
      own.delete(cancelled);
      if (own.size === 0) this.#parked.delete(holder);
    };
    return { signal: cancelled.signal, done };
  }

  /** Ends every request of this worker that has no browser yet. */
  cancel(holder: Holder): void {
    for (const each of this.#parked.get(holder) ?? []) each.abort(new AheadCancelled());
  }
}

/** What a request ahead fails with when its worker has taken it back: nobody's failure. */
export class AheadCancelled extends LeaseError {
  constructor() {
    super('ABORTED', 'This browser was asked for ahead, and is not needed any more.');
  }
}
