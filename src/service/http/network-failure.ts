import { ProxyError } from '../../common/dial/environment-proxy.ts';
import { errorMessage } from '../../common/error-message.ts';

/** Interprets the network error of a request without a complete response. */

const EXPLAINED: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up now',
  ECONNRESET: 'the connection broke before the response was complete',
  UND_ERR_SOCKET: 'the connection broke before the response was complete',
  EPIPE: 'the connection broke before the response was complete',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be opened in time',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the response is too large to be one of the service',
};

/**
 * Failures of opening the connection that name no system call. Not `ERR_SSL_…`: a connection that is open may break
 * with the same codes as a handshake.
 */
const BEFORE_SENDING =
  /^(UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_CERT_ALTNAME_INVALID|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*)$/;

/** A request failed before its connection was ready to write to. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super('not sent', { cause });
  }
}

function* chain(error: unknown): Generator<Error> {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 5; depth += 1) {
    yield current;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
}

function text(error: Error, key: 'code' | 'syscall'): string | undefined {
  const value: unknown = Reflect.get(error, key);
  return typeof value === 'string' ? value : undefined;
}

/** The first code (`ECONNREFUSED`, `UND_ERR_SOCKET`, …) of an error and its causes. */
function networkCode(error: unknown): string | undefined {
  for (const each of chain(error)) {
    const code = text(each, 'code');
    if (code) return code;
  }
  return undefined;
}

/** `ECONNREFUSED: nothing listens there`. */
export function describeNetworkFailure(error: unknown): string {
  for (const each of chain(error)) if (each instanceof ProxyError) return each.message;
  const code = networkCode(error);
  if (!code && error instanceof NotSent) return describeNetworkFailure(error.cause);
  if (!code) return errorMessage(error);
  const explained = EXPLAINED[code];
  return explained ? `${code}: ${explained}` : code;
}

/** Whether the connection was never opened, so that the service cannot have seen the request. */
export function failedBeforeSending(error: unknown): boolean {
  for (const each of chain(error)) {
    if (each instanceof NotSent) return true;
    const syscall = text(each, 'syscall');
    if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
    const code = text(each, 'code');
    if (code && BEFORE_SENDING.test(code)) return true;
  }
  return false;
}
