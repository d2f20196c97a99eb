import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { Agent, type Dispatcher } from 'undici';
import * as z from 'zod';
import { connectorThrough } from '../../common/dial/dial.ts';
import { environmentProxy } from '../../common/dial/environment-proxy.ts';
import { parseOrThrow } from '../../common/validation.ts';
import { PoolwrightError, ServiceError } from '../../errors.ts';
import {
  type CallOptions,
  checkClientOptions,
  type RetryMode,
  type ServiceClientOptions,
  timeoutSchema,
} from './client-options.ts';
import { badResponse, type CallContext } from './failures.ts';
import { type ApiResponse, abortError, type Connection, checkResponse, type HttpRequest, sendRequest } from './http.ts';
import { isAmbiguous, nextDelay, type RetryCase, retryCase } from './retry-policy.ts';

/** The longest wait before a retry of a call without a signal, in ms. */
const LONGEST_WAIT_MS = 5 * 60_000;
/** How long `close()` waits for requests that are under way, in ms. */
const CLOSE_GRACE_MS = 5_000;
/** More than any response of the service, in bytes. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** @throws OptionsError for an invalid proxy in the environment */
function agentFor(baseURL: string): Dispatcher {
  const proxy = environmentProxy(baseURL);
  return new Agent({
    maxResponseSize: MAX_RESPONSE_BYTES,
    ...(proxy && { connect: connectorThrough(proxy.dial, { rejectUnauthorized: true }) }),
  });
}

/** One call: a request, and what may be done when it fails. */
export interface Call<S extends z.ZodType> extends HttpRequest<S> {
  /**
   * After a failure that may have had its effect. `always`: the call is idempotent. `if-responded`: only when the
   * service responded that it failed. `never`: not by itself.
   */
  repeat: 'always' | 'if-responded' | 'never';
  /** Default bound of this kind of call, in ms, where it is not the client's. */
  timeoutMs?: number;
  /** Secrets in the body, masked in messages. */
  secrets?: readonly string[];
}

/**
 * How often one call has failed, and how: each kind of failure has the tries that the table gives it, all ambiguous
 * ones together. So a call that waited for capacity still survives one broken connection.
 */
export type FailureTally = Map<RetryCase | 'ambiguous', number>;

/** Checks, sends and repeats the calls of all endpoints. */
export class ServiceCore {
  readonly #connection: Connection;
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;
  /** Bound on one request, in ms. */
  readonly timeout: number;
  readonly #retry: RetryMode;
  /** How far the service's clock is ahead of this machine's, in ms, by its last response. */
  #clockAheadMs = 0;
  readonly #options: ServiceClientOptions;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal); // every call under way listens to it
    const { baseURL, apiKey, timeout, retry } = checkClientOptions(options);
    this.#connection = { baseURL, apiKey, dispatcher: options.dispatcher ?? agentFor(baseURL) };
    this.timeout = timeout;
    this.#retry = retry;
  }

  /**
   * Checks the caller's arguments before the request is sent.
   * @throws PoolwrightError `REQUEST_INVALID` with every problem
   */
  check<S extends z.ZodType>(schema: S, value: unknown, request: string): z.output<S> {
    return parseOrThrow(schema, value, (problems) => {
      const list = problems.map((problem) => `  - ${problem}`).join('\n');
      return new PoolwrightError('REQUEST_INVALID', `${request} was not sent, because it is not valid:\n${list}`);
    });
  }

  /** Checks a part of a response. @throws ServiceError `SERVICE_BAD_RESPONSE` */
  checkResponse<S extends z.ZodType, C extends z.ZodType>(
    schema: S,
    response: ApiResponse<unknown>,
    call: Call<C>,
  ): z.output<S> {
    return checkResponse(schema, response.data, response.status, this.#context(call, 1));
  }

  /** The error for a success that parses, but cannot be used. */
  badResponse<C extends z.ZodType>(call: Call<C>, status: number, problem: string): ServiceError {
    return badResponse(status, [problem], this.#context(call, 1));
  }

  /** Sends a call, and again as the policy and `call.repeat` allow. */
  async request<S extends z.ZodType>(call: Call<S>, options: CallOptions): Promise<ApiResponse<z.output<S>>> {
    const tally: FailureTally = new Map();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.send(call, options, attempt);
      } catch (error) {
        if (!(error instanceof ServiceError) || !mayRepeat(call.repeat, error)) throw error;
        if (!(await this.waitToRepeat(error, tally, options))) throw error;
      }
    }
  }

  /** Sends a call once. */
  async send<S extends z.ZodType>(
    call: Call<S>,
    options: CallOptions,
    attempt: number,
  ): Promise<ApiResponse<z.output<S>>> {
    const context = this.#context(call, attempt);
    const { timeout } = this.check(callOptions, options, context.request);
    if (this.#closing.signal.aborted) throw closedError(context.request);
    const timeoutMs = call.timeoutMs ?? timeout ?? this.timeout;
    const response = await sendRequest(this.#connection, call, { timeoutMs, signal: options.signal }, context);
    if (response.serverTime !== null) this.#clockAheadMs = response.serverTime - Date.now();
    return response;
  }

  /** The service's time in ms since the epoch; this machine's time until the first response. */
  now(): number {
    return Date.now() + this.#clockAheadMs;
  }

  /** Whether failed calls are asked again. */
  retries(options: CallOptions): boolean {
    return (options.retry ?? this.#retry) === 'policy';
  }

  /**
   * Waits as long as the policy and the service say before another try; returns false at once when the policy allows
   * none, or the service asks for more than 5 minutes and the call has no signal to end it.
   */
  async waitToRepeat(error: ServiceError, tally: FailureTally, options: CallOptions): Promise<boolean> {
    const kind = isAmbiguous(error) ? 'ambiguous' : retryCase(error);
    const failures = (tally.get(kind) ?? 0) + 1;
    tally.set(kind, failures);
    const delayMs = this.retries(options) ? nextDelay(error, failures, this.#options.random) : null;
    if (delayMs === null || (delayMs > LONGEST_WAIT_MS && !options.signal)) return false;
    const { request, attempts, code, status, message } = error;
    this.#options.onRetry?.({ request, attempt: attempts, delayMs, code, status, message });
    await this.sleep(delayMs, options, request);
    return true;
  }

  /** @throws PoolwrightError `ABORTED` when the call's signal fires or the client is closed. */
  async sleep(ms: number, { signal }: CallOptions, request: string): Promise<void> {
    const ends = this.#ends({ signal });
    const sleep = this.#options.sleep ?? realSleep;
    try {
      await sleep(ms, ends);
    } catch (error) {
      if (!ends.aborted) throw error;
    }
    this.#throwIfEnded({ signal }, request);
  }

  #ends({ signal }: CallOptions): AbortSignal {
    return signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
  }

  #throwIfEnded({ signal }: CallOptions, request: string): void {
    if (signal?.aborted) throw abortError(signal, request);
    if (this.#closing.signal.aborted) throw closedError(request);
  }

  /**
   * Lets requests under way finish for up to 5 s, then drops every connection of the client's own. Safe to call again.
   */
  close(): Promise<void> {
    this.#closed ??= this.#closeOnce();
    return this.#closed;
  }

  async #closeOnce(): Promise<void> {
    this.#closing.abort();
    if (this.#options.dispatcher) return;
    const { dispatcher } = this.#connection;
    await pTimeout(
      dispatcher.close().catch(() => undefined),
      { milliseconds: CLOSE_GRACE_MS, message: false },
    );
    await dispatcher.destroy();
  }

  #context(call: Call<z.ZodType>, attempt: number): CallContext {
    return {
      request: `${call.method} ${call.path}`,
      subject: call.subject,
      attempt,
      secrets: [this.#connection.apiKey, ...(call.secrets ?? [])],
    };
  }
}

const callOptions = z.object({ timeout: timeoutSchema.optional(), retry: z.enum(['policy', 'none']).optional() });

function mayRepeat(repeat: Call<z.ZodType>['repeat'], error: ServiceError): boolean {
  if (repeat === 'always' || !isAmbiguous(error)) return true;
  return repeat === 'if-responded' && retryCase(error) !== 'no-answer';
}

function closedError(request: string): PoolwrightError {
  return new PoolwrightError('ABORTED', `${request} was not sent: this ServiceClient is closed.`);
}

async function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
