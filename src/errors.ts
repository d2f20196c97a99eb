import { printable, printableLines } from './printable.ts';

/**
 * Everything poolwright throws. A closed set of codes, so that a caller can tell cases apart without reading text;
 * messages are for the person: what happened, which field, variable or session, and what to do next. They may quote
 * text of others, such as a response of the service, and are made {@link printable} here.
 */

/** The kinds of failure, grouped by cause. */
export const errorCodes = [
  // The user's input.
  'OPTIONS_INVALID',
  'ENVIRONMENT_MISSING',
  'REQUEST_INVALID',
  // The service's response.
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
  // Addresses on this machine that are not exposed to pages.
  'NOT_CARRIED',
  // The run's budget.
  'BUDGET_EXCEEDED',
  // The emulator on this machine.
  'EMULATOR_NO_CHROMIUM',
  'EMULATOR_PORT_IN_USE',
  'EMULATOR_START_FAILED',
  'EMULATOR_ENDED',
  // Time limits and cancellation.
  'TIMEOUT',
  'ABORTED',
] as const;

/** The kind of failure: a closed set. docs/troubleshooting.md explains each code. */
export type PoolwrightErrorCode = (typeof errorCodes)[number];

/*
 * Every code belongs to one class, which {@link errorOf} returns. Only `TIMEOUT` and `ABORTED` can occur in any part:
 * there, the class tells in which.
 */
/** Codes of any part: a time limit, or a cancellation. */
type Bound = 'TIMEOUT' | 'ABORTED';
/** Codes of an {@link OptionsError}. */
type OptionsErrorCode = 'OPTIONS_INVALID' | 'ENVIRONMENT_MISSING';
/** Codes of a {@link ServiceError}. */
type ServiceErrorCode = Extract<PoolwrightErrorCode, `SERVICE_${string}`> | Bound;
/** Codes of a {@link LeaseError}. */
type LeaseErrorCode =
  | Extract<PoolwrightErrorCode, `BROKER_${string}`>
  | 'ACQUIRE_TIMEOUT'
  | 'CONNECT_FAILED'
  | 'BROWSER_LOST'
  | 'ABORTED';
/** Codes of an {@link EmulatorError}. */
type EmulatorErrorCode = Extract<PoolwrightErrorCode, `EMULATOR_${string}`>;

/** The base of every error poolwright throws. `message` holds no secret: no key, no `cdpUrl`, no proxy password. */
export class PoolwrightError extends Error {
  /** The class, without the code. */
  declare readonly name: string;
  /** The kind of failure. */
  readonly code: PoolwrightErrorCode;

  constructor(code: PoolwrightErrorCode, message: string, options?: { cause?: unknown }) {
    super(printableLines(message), options);
    this.code = code;
    // Most runners print the stack. Its first line has name and message.
    this.stack = this.stack?.replace(`${this.name}: `, () => `${codedName(this)}: `);
  }

  /** `LeaseError [ACQUIRE_TIMEOUT]: No browser within …` */
  override toString(): string {
    return `${codedName(this)}: ${this.message}`;
  }
}

function codedName({ name, code }: PoolwrightError): string {
  return name.endsWith(']') ? name : `${name} [${code}]`;
}

/**
 * Lets the name of an error end with its code, for a runner that prints name and message and is given the error at
 * once, so that no code of the user compares the name.
 */
export function withCodedName<Thrown>(error: Thrown): Thrown {
  if (error instanceof PoolwrightError)
    Object.defineProperty(error, 'name', { value: codedName(error), configurable: true });
  return error;
}

/** A setting the user wrote is wrong or missing: `field` is the option's path or the environment variable's name. */
export class OptionsError extends PoolwrightError {
  /** Always `OptionsError`. */
  declare readonly name: 'OptionsError';
  /** The option's path (`session.country`), or the environment variable's name. */
  readonly field: string;

  constructor(field: string, message: string, code: OptionsErrorCode = 'OPTIONS_INVALID') {
    super(code, message);
    this.field = field;
    // A user's mistake is read, not debugged: Playwright, Node and every runner print the message alone.
    this.stack = String(this);
    for (const key of ['code', 'field']) Object.defineProperty(this, key, { enumerable: false });
  }

  /** What Node prints of it. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.stack ?? this.message;
  }
}

/** What a failed call to the service carries beside its message. */
export interface ServiceErrorDetails {
  /** HTTP status; 0 when there was no response. */
  status: number;
  /** The body's `code`, where it had one (`browser_capacity_unavailable`, `dedicated_ip_not_owned`, …). */
  serviceCode?: string | undefined;
  /** The body's `error` text; for a body that is not JSON, a short excerpt. */
  serviceMessage?: string | undefined;
  /** Method and path of the call, query values left out: `POST /v1/browser/session`. */
  request: string;
  /** Whether the same call may succeed later, by section 7 of the service document. */
  retryable: boolean;
  /** `Retry-After` of the response in ms, where it had one. */
  retryAfterMs?: number | undefined;
  /** How many times the call was sent. */
  attempts?: number | undefined;
}

/** A call to the service that did not succeed (section 7 of the service document). Its message is one line. */
export class ServiceError extends PoolwrightError {
  /** Always `ServiceError`. */
  declare readonly name: 'ServiceError';
  /** What the service refused or did not do. */
  declare readonly code: ServiceErrorCode;
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  /** The body's `code`, where it had one. */
  readonly serviceCode: string | undefined;
  /** The body's `error` text; for a body that is not JSON, a short excerpt. */
  readonly serviceMessage: string | undefined;
  /** Method and path of the call, query values left out. */
  readonly request: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** `Retry-After` of the response in ms, where it had one. */
  readonly retryAfterMs: number | undefined;
  /** How many times the call was sent. */
  readonly attempts: number;

  constructor(code: ServiceErrorCode, message: string, details: ServiceErrorDetails & { cause?: unknown }) {
    super(code, printable(message), { cause: details.cause });
    this.status = details.status;
    this.serviceCode = details.serviceCode;
    this.serviceMessage = details.serviceMessage;
    this.request = details.request;
    this.retryable = details.retryable;
    this.retryAfterMs = details.retryAfterMs;
    this.attempts = details.attempts ?? 1;
  }
}

/**
 * Getting, keeping or giving back a browser failed. `sessionId` names it where there was one. Its message is one line.
 */
export class LeaseError extends PoolwrightError {
  /** Always `LeaseError`. */
  declare readonly name: 'LeaseError';
  /** What failed: the wait, the connection, the browser or the broker. */
  declare readonly code: LeaseErrorCode;
  /** Of the browser, where there was one. */
  readonly sessionId: string | undefined;

  constructor(code: LeaseErrorCode, message: string, options?: { cause?: unknown; sessionId?: string | undefined }) {
    super(code, printable(message), options);
    this.sessionId = options?.sessionId;
  }
}

/** The emulator fails on this machine. */
export class EmulatorError extends PoolwrightError {
  /** Always `EmulatorError`. */
  declare readonly name: 'EmulatorError';
  /** What failed: the start, or the emulator while it ran. */
  declare readonly code: EmulatorErrorCode;

  constructor(code: EmulatorErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

// By hand: a bundler may rename a class, and what makes CommonJS of ours does.
for (const [name, { prototype }] of Object.entries({
  PoolwrightError,
  OptionsError,
  ServiceError,
  LeaseError,
  EmulatorError,
})) {
  Object.defineProperty(prototype, 'name', { value: name, writable: true, configurable: true });
  Object.defineProperty(prototype.constructor, 'name', { value: name, configurable: true });
  Object.defineProperty(prototype, kindOf(name), { value: true });
}

// A process may have two copies of these classes: in Vitest and Jest, the adapter's, and that of a test which imports
// `poolwright`.
Object.defineProperty(PoolwrightError, Symbol.hasInstance, {
  value(this: typeof PoolwrightError, value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    const kind = kindOf(this.name);
    return typeof value === 'object' && value !== null && kind in value && Object.hasOwn(this.prototype, kind);
  },
});

/** Marks the errors of a class, and of those that extend it, in all copies of the package. */
function kindOf(name: string): symbol {
  return Symbol.for(`poolwright.${name}`);
}

/** What an error has beside code and message, by its class. */
export interface ErrorDetails {
  /** Of an OptionsError. */
  field?: string | undefined;
  /** Of a LeaseError. */
  lease?: { sessionId?: string | undefined } | undefined;
  /** Of a ServiceError. */
  service?: ServiceErrorDetails | undefined;
}

/** An error of the class that its code has. A bound's class is that of the details, else the base. */
export function errorOf(code: PoolwrightErrorCode, message: string, details: ErrorDetails = {}): PoolwrightError {
  const { field = '', lease, service } = details;
  switch (code) {
    case 'OPTIONS_INVALID':
    case 'ENVIRONMENT_MISSING':
      return new OptionsError(field, message, code);
    case 'ACQUIRE_TIMEOUT':
    case 'CONNECT_FAILED':
    case 'BROWSER_LOST':
    case 'BROKER_FAILED':
    case 'BROKER_LOST':
      return new LeaseError(code, message, lease);
    case 'TIMEOUT':
    case 'ABORTED':
      if (service) return new ServiceError(code, message, service);
      return lease && code === 'ABORTED' ? new LeaseError(code, message, lease) : new PoolwrightError(code, message);
    default:
      if (isService(code)) return new ServiceError(code, message, service ?? NO_RESPONSE);
      if (isEmulator(code)) return new EmulatorError(code, message);
      return new PoolwrightError(code, message);
  }
}

const NO_RESPONSE: ServiceErrorDetails = { status: 0, request: '', retryable: false };

function isService(code: PoolwrightErrorCode): code is Extract<PoolwrightErrorCode, `SERVICE_${string}`> {
  return code.startsWith('SERVICE_');
}

function isEmulator(code: PoolwrightErrorCode): code is EmulatorErrorCode {
  return code.startsWith('EMULATOR_');
}
