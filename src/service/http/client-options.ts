import type { Dispatcher } from 'undici';
import * as z from 'zod';
import { parsedUrl } from '../../common/url/parsed-url.ts';
import { parseOrThrow } from '../../common/validation.ts';
import { OptionsError, type PoolwrightErrorCode } from '../../errors.ts';

/** `'policy'`: retry by section 7 of the service document. `'none'`: send one request. */
export type RetryMode = 'policy' | 'none';

/** A call that is about to be sent again. */
export interface RetryInfo {
  /** `POST /v1/browser/session` */
  request: string;
  /** How many times it was sent so far. */
  attempt: number;
  /** The wait before the next time, in ms. */
  delayMs: number;
  /** Code of the last failure. */
  code: PoolwrightErrorCode;
  /** HTTP status of the last failure; 0: no response. */
  status: number;
  /** What the last failure says, in one line, without secrets. */
  message: string;
}

/** Settings of a {@link ServiceClient}. */
export interface ServiceClientOptions {
  /** Address of the service, `http://` or `https://`; a path in it is kept. */
  baseURL: string;
  /** Workspace API key, sent as a bearer token (section 5 of the service document). */
  apiKey: string;
  /**
   * Bound on one request, in ms: 1 to 2 147 483 647. Default 30 000. A create gets at least 200 000, because the
   * service's startup deadline may be 3 minutes; an upload at least 300 000; an acquire gets its `waitMs` on top.
   */
  timeout?: number;
  /** Default `'policy'`. */
  retry?: RetryMode;
  /** Called before each wait for another try. */
  onRetry?: (info: RetryInfo) => void;
  /** The undici dispatcher to send with. Default: an agent of the client's own, which `close()` closes. */
  dispatcher?: Dispatcher;
  /** Source of jitter, from 0 up to 1. Default `Math.random`. */
  random?: () => number;
  /** Waits `ms`; rejects when the signal fires. For tests. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Settings of one call, over those of the client. */
export interface CallOptions {
  /** Cancels the call: it throws `ABORTED`, or the signal's reason when that is a PoolwrightError. */
  signal?: AbortSignal | undefined;
  /** Bound on one request, in ms: 1 to 2 147 483 647. */
  timeout?: number | undefined;
  /** Whether it is sent again after a failure: by the policy of its endpoint, or never. Default: the client's. */
  retry?: RetryMode | undefined;
}

/** Settings of a create, over those of the client. */
export interface CreateOptions extends CallOptions {
  /**
   * Called once, as soon as a request of this create may have created a session without a response. Even if the call
   * succeeds, one more session with its note may then exist.
   */
  onDoubt?: (() => void) | undefined;
  /**
   * Called with the session's ID when the service has responded with it. From then on the caller stops the session,
   * also if the call fails; without this, a session that cannot be used is stopped by the call, once.
   */
  onKnown?: ((sessionId: string) => void) | undefined;
}

/** Settings of an acquire, over those of the client. */
export interface AcquireOptions extends CallOptions {
  /**
   * Called with the lease's IDs when they are known. From then on the caller releases it, also if the call fails;
   * without this, a lease that cannot be used is released by the call, once.
   */
  onKnown?: ((lease: { leaseId: string; sessionId: string }) => void) | undefined;
}

/** Longer timers fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Bounds on one request, in ms. */
export const REQUEST_TIMEOUT = { default: 30_000, create: 200_000, upload: 300_000 } as const;

export const timeoutSchema = z.number().min(1).max(MAX_TIMER_MS);

const checked = z.object({
  baseURL: z.string().refine(isBaseAddress, {
    error: 'must be an http:// or https:// address without user name, query or fragment (POOLWRIGHT_BASE_URL)',
  }),
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be a key in printable characters without blanks (POOLWRIGHT_API_KEY)'),
  timeout: timeoutSchema.optional(),
  retry: z.enum(['policy', 'none']).optional(),
});

function isBaseAddress(value: string): boolean {
  const parsed = parsedUrl(value);
  if (!/^https?:\/\//i.test(value) || !parsed) return false;
  const { username, password, search, hash } = parsed;
  return username === '' && password === '' && search === '' && hash === '';
}

/** @throws OptionsError `OPTIONS_INVALID` with every problem. */
export function checkClientOptions(options: ServiceClientOptions) {
  const parsed = parseOrThrow(checked, options, (problems) => {
    const field = /`(\w+)`/.exec(problems[0] ?? '')?.[1] ?? '';
    return new OptionsError(
      field,
      `Wrong options for ServiceClient:\n${problems.map((each) => `  - ${each}`).join('\n')}`,
    );
  });
  return {
    baseURL: parsed.baseURL.replace(/\/+$/, ''),
    apiKey: parsed.apiKey,
    timeout: parsed.timeout ?? REQUEST_TIMEOUT.default,
    retry: parsed.retry ?? 'policy',
  };
}
