import { ServiceError } from '../../errors.ts';
import { withNote } from './failures.ts';
import { isAmbiguous } from './retry-policy.ts';

/** Waits for a call; where its failure does not say whether it had its effect, the message gets `sentence` added. */
export async function explainAmbiguous<T>(call: Promise<T>, sentence: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof ServiceError && isAmbiguous(error) ? withNote(error, sentence) : error;
  }
}
