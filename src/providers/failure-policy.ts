import { OptionsError, ServiceError } from '../errors.ts';
import type { LeasePlan } from '../options/schema/plan.ts';
import { isAmbiguous, nextDelay, type RetryCase, retryCase, retryRule } from '../service/index.ts';
import type { Refusal } from './port.ts';

/**
 * The next step after a request that got no browser, for every provider: section 7 of the service document, decided in
 * one place.
 */

export type NextStep =
  /** The request has failed. */
  | { do: 'fail' }
  /** At the concurrent-browser limit: wait until a session ends. */
  | { do: 'park' }
  /** The service is overloaded: wait together with all other requests. */
  | { do: 'back-off' }
  /** Only this request waits. */
  | { do: 'retry'; delayMs: number; waitsFor: 'response' | 'pool' }
  /** The pool has no browser: create a session instead. */
  | { do: 'fall-back' };

/** The requested source, and the failures so far: all ambiguous failures count together, the others by kind. */
export interface Attempts {
  readonly from: 'pool' | 'session';
  readonly fallback: LeasePlan['fallback'];
  readonly failures: Map<RetryCase | 'ambiguous', number>;
}

/** With `fallback: 'session'`: how many polls may find the pool empty before a session is created. */
const POLLS_BEFORE_FALLBACK = 6;

/** @param random returns a number from 0 up to 1, like `Math.random` */
export function nextStep(error: ServiceError, { from, fallback, failures }: Attempts, random: () => number): NextStep {
  if (error.code === 'SERVICE_LIMIT_REACHED') return { do: 'park' };
  const kind = retryCase(error);
  const tally = isAmbiguous(error) ? 'ambiguous' : kind;
  const failed = (failures.get(tally) ?? 0) + 1;
  failures.set(tally, failed);
  if (from === 'pool' && error.status === 409) {
    // A paused pool also returns 409, and waiting does not make it ready.
    const isEmpty = kind === 'pool-empty';
    if (fallback === 'session' && (!isEmpty || failed >= POLLS_BEFORE_FALLBACK)) return { do: 'fall-back' };
    const delayMs = isEmpty ? nextDelay(error, Math.min(failed, 2), random) : null;
    return delayMs === null ? { do: 'fail' } : { do: 'retry', delayMs, waitsFor: 'pool' };
  }
  // A lease with a lost response cannot be looked up.
  if (from === 'pool' && kind === 'no-answer') return { do: 'fail' };
  const delayMs = nextDelay(error, failed, random);
  if (delayMs === null) return { do: 'fail' };
  return isOverload(kind) ? { do: 'back-off' } : { do: 'retry', delayMs, waitsFor: 'response' };
}

/**
 * How long to pause all requests for browsers after this failure, in ms; null: the failure does not affect the others.
 * The pause grows with every consecutive refusal, whichever request got it. The last value of the table applies to all
 * further refusals.
 * @param refusal number of the refusal in a row
 */
export function backoffDelay(error: ServiceError, refusal: number, random: () => number): number | null {
  if (!isOverload(retryCase(error))) return null;
  return nextDelay(error, Math.min(refusal, retryRule(error).attempts - 1), random);
}

/** No credit or no valid key: every further request would get the same response. */
export function endsTheRun(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.status === 402 || error.status === 401);
}

/** Whether a failed request may have made what it asked for. */
export function mayHaveMade(error: unknown): boolean {
  return error instanceof ServiceError ? isAmbiguous(error) : !(error instanceof OptionsError);
}

/** A call that has understood the request and refused it will refuse the same call again. */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500 && !error.retryable;
}

/** @param attempt how many times it was sent so far @param delayMs the wait before the next time */
export function refusalOf({ request, code, status, message }: ServiceError, attempt: number, delayMs: number): Refusal {
  return { request, attempt, delayMs, code, status, message };
}

/** A refusal in a few words. */
export function briefly({ status }: Refusal): string {
  return status === 0 ? 'the service does not respond' : `the service responded with ${status}`;
}

function isOverload(kind: RetryCase): boolean {
  return kind === 'unavailable' || kind === 'rate-limited';
}
