import type { ServiceError } from '../../errors.ts';
import { failedBeforeSending } from './network-failure.ts';

/** Section 7 of the service document as one table: when and how often a failed request is sent again. */

/** How one kind of failure is handled. */
export interface RetryRule {
  /** How many requests may fail this way before the call does; 1: never again. */
  readonly attempts: number;
  /** Wait before the second request, in ms. */
  readonly baseDelayMs: number;
  /** What each further wait is multiplied with. */
  readonly factor: number;
  /** Bound on one wait before jitter, in ms, where the service does not ask for a longer one. */
  readonly maxDelayMs: number;
  /** Share of the wait that is added at random, 0 to 1. */
  readonly jitter: number;
  /** Whether `Retry-After` is the least wait. */
  readonly honourRetryAfter: boolean;
  /** Whether the request may have had an effect. */
  readonly ambiguous: boolean;
}

/** The kinds of failure that the policy distinguishes. */
export type RetryCase =
  | 'not-sent'
  | 'no-answer'
  | 'bad-response'
  | 'refused'
  | 'pool-empty'
  | 'rate-limited'
  | 'failed'
  | 'edge-failed'
  | 'unavailable'
  | 'start-timeout';

/** A longer timer fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

const ONCE = {
  attempts: 2,
  baseDelayMs: 1_000,
  factor: 1,
  maxDelayMs: 1_000,
  jitter: 0,
  honourRetryAfter: false,
  ambiguous: false,
};
const NEVER = { ...ONCE, attempts: 1, baseDelayMs: 0, maxDelayMs: 0 };

/** The table. */
export const RETRY_POLICY: Readonly<Record<RetryCase, RetryRule>> = {
  /** The connection could not be opened. */
  'not-sent': ONCE,
  /** Reset, cut short or timed out. */
  'no-answer': { ...ONCE, ambiguous: true },
  /** A success with an invalid body. */
  'bad-response': { ...NEVER, ambiguous: true },
  /** 400, 401, 402, 403, 404, and every 409 but the one below. */
  refused: NEVER,
  /** 409 `No browser is currently ready in this pool`. */
  'pool-empty': {
    attempts: 3,
    baseDelayMs: 1_000,
    factor: 2,
    maxDelayMs: 4_000,
    jitter: 0.25,
    honourRetryAfter: false,
    ambiguous: false,
  },
  /** 429 */
  'rate-limited': {
    attempts: 4,
    baseDelayMs: 2_000,
    factor: 2,
    maxDelayMs: 30_000,
    jitter: 0.25,
    honourRetryAfter: true,
    ambiguous: false,
  },
  /** 500, and a 5xx that the document does not list. */
  failed: { ...ONCE, ambiguous: true },
  /** 502 */
  'edge-failed': { ...ONCE, baseDelayMs: 2_000, maxDelayMs: 2_000, ambiguous: true },
  /** 503 */
  unavailable: {
    attempts: 5,
    baseDelayMs: 2_000,
    factor: 2,
    maxDelayMs: 30_000,
    jitter: 0.5,
    honourRetryAfter: true,
    ambiguous: false,
  },
  /** 504: nothing is running. */
  'start-timeout': ONCE,
};

const BY_STATUS: Readonly<Record<number, RetryCase>> = {
  429: 'rate-limited',
  502: 'edge-failed',
  503: 'unavailable',
  504: 'start-timeout',
};

/** The parts of a failure that the policy depends on. */
export type Failure = Pick<ServiceError, 'code' | 'status' | 'cause'>;

/** The row of {@link RETRY_POLICY} for a failure. */
export function retryCase(failure: Failure): RetryCase {
  const { status, code } = failure;
  if (status === 0) return failedBeforeSending(failure.cause) ? 'not-sent' : 'no-answer';
  if (status < 300) return 'bad-response';
  if (code === 'SERVICE_POOL_EMPTY') return 'pool-empty';
  return BY_STATUS[status] ?? (status >= 500 ? 'failed' : 'refused');
}

/** The rule for a failure. */
export function retryRule(failure: Failure): RetryRule {
  return RETRY_POLICY[retryCase(failure)];
}

/**
 * How long to wait before asking again, in ms; null: do not ask again.
 *
 * Whether this call may be repeated at all is decided by {@link isAmbiguous}.
 * @param failures how many requests of this call have failed this way so far, 1 or more
 * @param random a number from 0 up to 1, as `Math.random` gives
 */
export function nextDelay(
  error: Failure & Partial<Pick<ServiceError, 'retryAfterMs'>>,
  failures: number,
  random: () => number = Math.random,
): number | null {
  const rule = retryRule(error);
  if (failures >= rule.attempts) return null;
  const grown = rule.baseDelayMs * rule.factor ** (failures - 1);
  const least = rule.honourRetryAfter ? (error.retryAfterMs ?? 0) : 0;
  const wait = Math.max(Math.min(grown, rule.maxDelayMs), least);
  return Math.min(Math.ceil(wait * (1 + rule.jitter * random())), LONGEST_TIMER_MS);
}

/**
 * Whether the service may have done what it was asked, although the call failed (no response, 500, 502, an unreadable
 * success).
 */
export function isAmbiguous(failure: Failure): boolean {
  return retryRule(failure).ambiguous;
}

/**
 * `Retry-After` in ms: whole seconds or an HTTP date; undefined for anything else.
 * @param now ms since the epoch that a date is counted from
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Za-z]{3,9}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
