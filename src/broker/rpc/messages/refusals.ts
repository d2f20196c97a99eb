import { LeaseError } from '../../../errors.ts';

/** Errors of requests for a browser that both sides of the connection know. */

const RUN_REFUSED = 'The poolwright broker of this run cannot lease browsers.';

/** The response to workers of a run that cannot begin. The runner reports why. */
export function runRefused(): LeaseError {
  return new LeaseError('BROKER_FAILED', RUN_REFUSED);
}

/** Whether a request failed because its run cannot begin: other failures of the broker have the same code. */
export function isRunRefused(error: unknown): boolean {
  return error instanceof LeaseError && error.code === 'BROKER_FAILED' && error.message === RUN_REFUSED;
}

/** A prefetch rejects with this when its worker cancels it. It is not a failure of the run. */
export class PrefetchCancelled extends LeaseError {
  constructor() {
    super('ABORTED', 'This prefetched browser is not needed any more.');
  }
}
