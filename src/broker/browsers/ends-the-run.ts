import { ServiceError } from '../../errors.ts';

/** No credit, no valid key: whoever asks next gets the same answer. */
export function endsTheRun(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.status === 402 || error.status === 401);
}
