import { LeaseError } from '../../errors.ts';

/** A prefetch rejects with this when its worker cancels it. It is not a failure of the run. */
export class PrefetchCancelled extends LeaseError {
  constructor() {
    super('ABORTED', 'This prefetched browser is not needed any more.');
  }
}
