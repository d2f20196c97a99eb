import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type * as z from 'zod';
import { parsedJson } from '../../common/text/parsed-json.ts';
import { describeIssues } from '../../common/validation.ts';
import { PoolwrightError } from '../../errors.ts';
import {
  badResponse,
  type CallContext,
  type FailedResponse,
  networkFailure,
  responseFailure,
  timeoutFailure,
} from './failures.ts';
import { encodeForm, type FormBody } from './form-body.ts';
import { NotSent } from './network-failure.ts';
import { parseRetryAfter } from './retry-policy.ts';

/** One request: status first, then a body that is parsed, never trusted. */

/** Where requests go, and as whom. */
export interface Connection {
  /** Address without a trailing slash; may have a path. */
  baseURL: string;
  apiKey: string;
  dispatcher: Dispatcher;
}

export interface HttpRequest<S extends z.ZodType> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base address, IDs in it encoded. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent instead of JSON: a form with a file in it. */
  form?: FormBody;
  /** Schema of a success. */
  schema: S;
  /** For messages: `session s-1`. */
  subject?: string;
}

/** A success, parsed. */
export interface ApiResponse<T> {
  status: number;
  data: T;
  /** The service's clock when it responded, in ms since the epoch; null when it did not say. */
  serverTime: number | null;
}

/** How long, and until when, a response is waited for. */
export interface SendLimits {
  /** ms */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Sends one request and reads its response.
 * @throws ServiceError for every failure; `TIMEOUT` with status 0 after `timeoutMs`
 * @throws PoolwrightError `ABORTED` when the signal fires, or the signal's own reason when that is a PoolwrightError
 */
export async function sendRequest<S extends z.ZodType>(
  connection: Connection,
  request: HttpRequest<S>,
  limits: SendLimits,
  context: CallContext,
): Promise<ApiResponse<z.output<S>>> {
  const { signal, timeoutMs } = limits;
  if (signal?.aborted) throw abortError(signal, context.request);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const giveUp = () => deadline.abort();
  signal?.addEventListener('abort', giveUp, { once: true });
  const { host } = new URL(connection.baseURL);
  const sending: Sending = { signal: deadline.signal, begun: false };
  try {
    const raw = await exchange(connection, request, sending);
    if (raw.status >= 300) throw responseFailure(raw, context);
    return { status: raw.status, data: parseResponse(request.schema, raw, context), serverTime: raw.serverTime };
  } catch (error) {
    if (error instanceof PoolwrightError) throw error;
    if (signal?.aborted) throw abortError(signal, context.request);
    const cause = sending.begun ? error : new NotSent(error);
    throw deadline.signal.aborted
      ? timeoutFailure(timeoutMs, host, context, cause)
      : networkFailure(cause, host, context);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

export function abortError(signal: AbortSignal, request: string): PoolwrightError {
  const reason: unknown = signal.reason;
  if (reason instanceof PoolwrightError) return reason;
  return new PoolwrightError(
    'ABORTED',
    `${request} was cancelled by the caller's signal; what was sent before may still be carried out.`,
    { cause: reason },
  );
}

interface Sending {
  signal: AbortSignal;
  /** Whether it is being written to a connection: from then on the service may have seen it. */
  begun: boolean;
}

interface RawResponse extends FailedResponse {
  serverTime: number | null;
}

async function exchange(
  { baseURL, apiKey, dispatcher }: Connection,
  { method, path, query, json, form }: HttpRequest<z.ZodType>,
  sending: Sending,
): Promise<RawResponse> {
  const { signal } = sending;
  const url = new URL(`${baseURL}${path}`);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  if (json !== undefined) headers['content-type'] = 'application/json';
  const encoded = form && encodeForm(form);
  Object.assign(headers, encoded?.headers);
  const watched = dispatcher.compose((dispatch) => (options, handler) => dispatch(options, noting(handler, sending)));
  const response = await watched.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers,
    body: encoded ? Readable.from(encoded.body) : json === undefined ? null : JSON.stringify(json),
    signal,
    // The signal is the one deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const status = response.statusCode;
  // A refusal is known from its status, even when its text is lost on the way.
  const body = await response.body.text().catch((error: unknown) => {
    if (status >= 300 && !signal.aborted) return '';
    throw error;
  });
  const date = Date.parse(header(response.headers.date) ?? '');
  const serverTime = Number.isNaN(date) ? null : date;
  const retryAfterMs = parseRetryAfter(header(response.headers['retry-after']), serverTime ?? Date.now());
  return { status, body, retryAfterMs, serverTime };
}

/** Records when the dispatcher reports anything but a failure, first that it starts to write. */
function noting(handler: Dispatcher.DispatchHandler, sending: Sending): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (key !== 'onError' && key !== 'onResponseError') sending.begun = true;
        return value.apply(target, args);
      };
    },
  });
}

/** @throws ServiceError `SERVICE_BAD_RESPONSE` naming the fields. */
function parseResponse<S extends z.ZodType>(
  schema: S,
  { status, body }: RawResponse,
  context: CallContext,
): z.output<S> {
  // Responses that contain nothing but their status (204) are objects without fields.
  const value = body.trim() === '' ? {} : parsedJson(body);
  if (value === undefined) throw badResponse(status, [`a body of ${body.length} characters that is not JSON`], context);
  return checkResponse(schema, value, status, context);
}

/** @throws ServiceError `SERVICE_BAD_RESPONSE` naming the fields. */
export function checkResponse<S extends z.ZodType>(
  schema: S,
  value: unknown,
  status: number,
  context: CallContext,
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badResponse(status, describeIssues(result.error, value, schema), context);
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
