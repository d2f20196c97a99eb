import * as z from 'zod';
import { parsedJson } from '../../common/text/parsed-json.ts';
import { ServiceError, type ServiceErrorDetails } from '../../errors.ts';
import { printable } from '../../printable.ts';
import { redactText } from '../../redact.ts';
import { describeNetworkFailure } from './network-failure.ts';
import { isAmbiguous, nextDelay } from './retry-policy.ts';

/** Turns a failed request into a {@link ServiceError} that says what happened and what to do. */

/** The failed call, for its message. */
export interface CallContext {
  /** `GET /v1/browser/session` */
  request: string;
  /** `session s-1`, `pool pool_e2e` */
  subject?: string | undefined;
  /** How many times it was sent. */
  attempt: number;
  /** Masked everywhere. */
  secrets: readonly string[];
}

export interface FailedResponse {
  status: number;
  body: string;
  retryAfterMs: number | undefined;
}

const EXCERPT_CHARACTERS = 300;
const errorBody = z.looseObject({ error: z.string(), code: z.string().optional().catch(undefined) });

const BY_STATUS: Readonly<Record<number, ServiceError['code']>> = {
  400: 'SERVICE_BAD_REQUEST',
  401: 'SERVICE_UNAUTHORIZED',
  402: 'SERVICE_OUT_OF_CREDIT',
  403: 'SERVICE_FORBIDDEN',
  404: 'SERVICE_NOT_FOUND',
  409: 'SERVICE_CONFLICT',
  429: 'SERVICE_RATE_LIMITED',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_START_TIMEOUT',
};

/** Statuses with several meanings, distinguished by the message (section 7). */
const BY_MESSAGE: ReadonlyArray<{ status: number; message: RegExp; code: ServiceError['code'] }> = [
  { status: 403, message: /session limit reached/i, code: 'SERVICE_LIMIT_REACHED' },
  { status: 409, message: /no browser is currently ready/i, code: 'SERVICE_POOL_EMPTY' },
];

const ADVICE: Readonly<Partial<Record<ServiceError['code'], string>>> = {
  SERVICE_BAD_REQUEST: 'Correct what the message names; the same request will be refused again.',
  SERVICE_UNAUTHORIZED:
    "The API key was not accepted: check POOLWRIGHT_API_KEY (or `apiKey`). Keys are made in the API keys settings of the service's dashboard.",
  SERVICE_OUT_OF_CREDIT: 'The workspace is out of credit: no browser starts until it is topped up.',
  SERVICE_FORBIDDEN: 'This account may not do that: have the feature enabled, or leave it out of the request.',
  SERVICE_LIMIT_REACHED:
    'The workspace runs as many browsers as its plan allows, starting ones included: stop one (npx poolwright sessions list), wait until one ends, or use fewer workers.',
  SERVICE_NOT_FOUND:
    'It does not exist in the workspace of this API key: check the ID, and that the key is of the right workspace.',
  SERVICE_CONFLICT:
    "The pool's state does not allow it: look at the pool, change what the message names, then ask again.",
  SERVICE_POOL_EMPTY:
    'Every warm browser of the pool is leased: wait longer (`waitMs`), enlarge the pool, or create a session instead.',
  SERVICE_RATE_LIMITED: 'Too many requests: ask again later, and less often.',
  SERVICE_FAILED: 'The service failed on its own side: ask again later, and report it to the service when it stays.',
  SERVICE_UNAVAILABLE: 'The service, or a browser there, is not available at the moment: ask again later.',
  SERVICE_START_TIMEOUT: 'The browser was not ready in time; nothing is running. Ask again.',
};

/** The document's own `code`s say more than their status. */
const ADVICE_BY_SERVICE_CODE: ReadonlyMap<string | undefined, string> = new Map([
  [
    'invalid_spec',
    'The dedicated address in `proxyUrl` is malformed: use dedicated://<ip>, dedicated://any or dedicated://any~country-XX.',
  ],
  ['dedicated_ip_not_owned', 'The dedicated address in `proxyUrl` is not of this workspace.'],
  ['no_dedicated_ip', 'The workspace has no dedicated address that matches `proxyUrl`.'],
  [
    'dedicated_ip_unhealthy',
    'The dedicated address in `proxyUrl` failed its last health check: ask again later, or use another.',
  ],
  [
    'browser_capacity_unavailable',
    'The service has no free browser for this request at the moment: ask again later, or in another country.',
  ],
]);

/** Responses of the edge in front of the service, so that their form says nothing. */
const FROM_THE_EDGE = new Set([429, 502]);

export function responseFailure(response: FailedResponse, context: CallContext): ServiceError {
  const { status, retryAfterMs } = response;
  const body = readErrorBody(response.body, context.secrets);
  const code = codeOf(status, body.message ?? '');
  const said = body.message ? ` "${body.message}"` : '';
  const advice = [ADVICE_BY_SERVICE_CODE.get(body.code) ?? ADVICE[code] ?? ''];
  if (code === 'SERVICE_BAD_RESPONSE' || (!body.recognised && !FROM_THE_EDGE.has(status) && status < 500)) {
    advice.push('This is not how the service responds: check POOLWRIGHT_BASE_URL (or `baseURL`).');
  }
  return failure(code, `responded with ${status}${said}. ${advice.filter(Boolean).join(' ')}`, context, {
    status,
    retryAfterMs,
    serviceMessage: body.message,
    serviceCode: body.code,
  });
}

/** The error for a call that got no complete response. `host`: where it was sent. */
export function networkFailure(cause: unknown, host: string, context: CallContext): ServiceError {
  const text = `got no response from ${host} (${describeNetworkFailure(cause)}). Check POOLWRIGHT_BASE_URL (or \`baseURL\`) and the network.`;
  return failure('SERVICE_UNREACHABLE', text, context, { status: 0, cause });
}

/** The error for a call that was given up after `timeoutMs`. */
export function timeoutFailure(timeoutMs: number, host: string, context: CallContext, cause?: unknown): ServiceError {
  const text = `got no response from ${host} within ${timeoutMs} ms (\`timeout\`). Raise \`timeout\`, or check POOLWRIGHT_BASE_URL (or \`baseURL\`) and the network.`;
  return failure('TIMEOUT', text, context, { status: 0, cause });
}

/** The error for a success with an invalid body; `problems` name the fields. */
export function badResponse(status: number, problems: readonly string[], context: CallContext): ServiceError {
  const text = `responded with ${status}, but not with what the service document says: ${problems.join('; ')}. Check POOLWRIGHT_BASE_URL (or \`baseURL\`), and whether a newer poolwright knows this service.`;
  return failure('SERVICE_BAD_RESPONSE', text, context, { status });
}

/** The same failure with one more sentence about it. */
export function withNote(error: ServiceError, sentence: string): ServiceError {
  return new ServiceError(error.code, `${error.message} ${sentence}`, error);
}

/** Waits for a call; where its failure does not say whether it had its effect, the message gets `sentence` added. */
export async function explainAmbiguous<T>(call: Promise<T>, sentence: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof ServiceError && isAmbiguous(error) ? withNote(error, sentence) : error;
  }
}

type Details = Omit<ServiceErrorDetails, 'attempts' | 'request' | 'retryable'> & { cause?: unknown };

function failure(code: ServiceError['code'], text: string, context: CallContext, details: Details): ServiceError {
  const { request, subject, attempt, secrets } = context;
  const about = subject ? ` (${subject})` : '';
  const count = attempt > 1 ? ` (${attempt} requests were sent)` : '';
  const message = redactText(`${request}${about} ${text.trim()}${count}`, secrets);
  const retryable = nextDelay({ ...details, code }, 1) !== null;
  return new ServiceError(code, message, {
    ...details,
    request: redactText(request, secrets),
    retryable,
    attempts: attempt,
  });
}

function codeOf(status: number, message: string): ServiceError['code'] {
  const known = BY_MESSAGE.find((each) => each.status === status && each.message.test(message));
  if (known) return known.code;
  if (status < 400) return 'SERVICE_BAD_RESPONSE';
  return BY_STATUS[status] ?? (status >= 500 ? 'SERVICE_FAILED' : 'SERVICE_BAD_REQUEST');
}

/** `{ error, code? }`; of anything else a short excerpt. */
function readErrorBody(body: string, secrets: readonly string[]) {
  const parsed = errorBody.safeParse(parsedJson(body));
  const text = excerpt(parsed.success ? parsed.data.error : body, secrets);
  const code = parsed.success ? parsed.data.code : undefined;
  return {
    recognised: parsed.success,
    message: text || undefined,
    code: code === undefined ? undefined : excerpt(code, secrets),
  };
}

/** As one line. Masked first, then cut: the front half of a secret is one too. */
function excerpt(text: string, secrets: readonly string[]): string {
  const clean = redactText(printable(text).replace(/\s+/g, ' ').trim(), secrets);
  return clean.length > EXCERPT_CHARACTERS ? `${clean.slice(0, EXCERPT_CHARACTERS)}…` : clean;
}
