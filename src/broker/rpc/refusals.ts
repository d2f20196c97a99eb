import { LeaseError } from '../../errors.ts';

const MESSAGE = 'The poolwright broker of this run may lend no browser.';

/** The answer to workers of a run that cannot begin. The runner reports why. */
export function runRefused(): LeaseError {
  return new LeaseError('BROKER_FAILED', MESSAGE);
}

/** Whether a request failed because its run cannot begin: other failures of the broker have the same code. */
export function isRunRefused(error: unknown): boolean {
  return error instanceof LeaseError && error.code === 'BROKER_FAILED' && error.message === MESSAGE;
}
