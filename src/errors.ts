/**
 * Everything poolwright throws. A closed set of codes, so that a caller can tell cases apart without reading text;
 * messages are for the person: what happened, which field, variable or session, and what to do next.
 * This file imports nothing.
 */

/** The kinds of failure, by who can do something about them. */
export const errorCodes = [
  // The user's input.
  'OPTIONS_INVALID',
  'ENVIRONMENT_MISSING',
  'REQUEST_INVALID',
  // The service's answer.
  'SERVICE_BAD_REQUEST',
  'SERVICE_UNAUTHORIZED',
  'SERVICE_OUT_OF_CREDIT',
  'SERVICE_FORBIDDEN',
  'SERVICE_LIMIT_REACHED',
  'SERVICE_NOT_FOUND',
  'SERVICE_CONFLICT',
  'SERVICE_POOL_EMPTY',
  'SERVICE_RATE_LIMITED',
  'SERVICE_FAILED',
  'SERVICE_UNAVAILABLE',
  'SERVICE_START_TIMEOUT',
  'SERVICE_UNREACHABLE',
  'SERVICE_BAD_RESPONSE',
  // Getting, keeping and losing a browser.
  'ACQUIRE_TIMEOUT',
  'CONNECT_FAILED',
  'BROWSER_LOST',
  'BROKER_FAILED',
  'BROKER_LOST',
  // What pages of a remote browser did not reach on this machine.
  'NOT_CARRIED',
  // What a run may use.
  'BUDGET_EXCEEDED',
  // The emulator on this machine.
  'EMULATOR_NO_CHROMIUM',
  'EMULATOR_PORT_IN_USE',
  'EMULATOR_START_FAILED',
  'EMULATOR_ENDED',
  // Bounds.
  'TIMEOUT',
  'ABORTED',
] as const;

/** What kind of failure it is: a closed set, with a paragraph for each in docs/troubleshooting.md. */
export type PoolwrightErrorCode = (typeof errorCodes)[number];

/** The base of every error poolwright throws. `message` holds no secret: no key, no `cdpUrl`, no proxy password. */
export class PoolwrightError extends Error {
  override readonly name: string = 'PoolwrightError';
  /** The kind of failure. */
  readonly code: PoolwrightErrorCode;

  constructor(code: PoolwrightErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A setting the user wrote is wrong or missing: `field` is the option's path or the environment variable's name. */
export class OptionsError extends PoolwrightError {
  override readonly name = 'OptionsError';
  /** The option's path (`session.country`), or the environment variable's name. */
  readonly field: string;

  constructor(field: string, message: string, code: 'OPTIONS_INVALID' | 'ENVIRONMENT_MISSING' = 'OPTIONS_INVALID') {
    super(code, message);
    this.field = field;
    // A user's mistake is read, not debugged: Playwright and Node print the message alone.
    this.stack = `${this.name}: ${message}`;
  }
}

/** What a failed call to the service carries beside its message. */
export interface ServiceErrorDetails {
  /** HTTP status; 0 when there was no answer. */
  status: number;
  /** The body's `code`, where it had one (`browser_capacity_unavailable`, `dedicated_ip_not_owned`, …). */
  serviceCode?: string | undefined;
  /** The body's `error` text; for a body that is not JSON, a short excerpt. */
  serviceMessage?: string | undefined;
  /** Method and path of the call, query values left out: `POST /v1/browser/session`. */
  request: string;
  /** Whether the same call may succeed later, by section 7 of the service document. */
  retryable: boolean;
  /** `Retry-After` of the answer in ms, where it had one. */
  retryAfterMs?: number | undefined;
  /** How many times the call was sent. */
  attempts?: number | undefined;
}

/** A call to the service that did not succeed (section 7 of the service document). */
export class ServiceError extends PoolwrightError {
  override readonly name = 'ServiceError';
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The body's `code`, where it had one. */
  readonly serviceCode: string | undefined;
  /** The body's `error` text; for a body that is not JSON, a short excerpt. */
  readonly serviceMessage: string | undefined;
  /** Method and path of the call, query values left out. */
  readonly request: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** `Retry-After` of the answer in ms, where it had one. */
  readonly retryAfterMs: number | undefined;
  /** How many times the call was sent. */
  readonly attempts: number;

  constructor(code: PoolwrightErrorCode, message: string, details: ServiceErrorDetails & { cause?: unknown }) {
    super(code, message, { cause: details.cause });
    this.status = details.status;
    this.serviceCode = details.serviceCode;
    this.serviceMessage = details.serviceMessage;
    this.request = details.request;
    this.retryable = details.retryable;
    this.retryAfterMs = details.retryAfterMs;
    this.attempts = details.attempts ?? 1;
  }
}

/** Getting, keeping or giving back a browser failed. `sessionId` names it where there was one. */
export class LeaseError extends PoolwrightError {
  override readonly name = 'LeaseError';
  /** Of the browser, where there was one. */
  readonly sessionId: string | undefined;

  constructor(
    code: PoolwrightErrorCode,
    message: string,
    options?: { cause?: unknown; sessionId?: string | undefined },
  ) {
    super(code, message, options);
    this.sessionId = options?.sessionId;
  }
}

/** The emulator cannot do what was asked on this machine. */
export class EmulatorError extends PoolwrightError {
  override readonly name = 'EmulatorError';

  constructor(
    code: Extract<PoolwrightErrorCode, `EMULATOR_${string}`>,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}
