import type { Protocol } from 'devtools-protocol';
import { UnusableResponse } from './http1/response-head.ts';

/** Chromium's name for a failure. */
export type NetError = `net::ERR_${string}`;

/** Why there is no response, in CDP's terms. */
export interface Failure {
  failure: Protocol.Network.ErrorReason;
  detail: string;
  /** Chromium's own name, if CDP has no term for it. */
  netError?: NetError | undefined;
  /** The challenge of the context's proxy, which wants a name and password. */
  proxyChallenge?: string | undefined;
}

/** The proxy of a context does not connect to a server. */
export class TunnelError extends Error {
  readonly netError: NetError;
  /** `Proxy-Authenticate`, if the proxy asks for a name and password. */
  readonly challenge: string | undefined;

  constructor(netError: NetError, challenge?: string) {
    super(`the proxy of the context failed: ${netError}`);
    this.netError = netError;
    this.challenge = challenge;
  }
}

/** By Node's error codes. */
const FAILURES: readonly [code: RegExp, failure: Protocol.Network.ErrorReason, netError?: NetError][] = [
  [/^ECONNREFUSED$/, 'ConnectionRefused'],
  [/^(ECONNRESET|EPIPE)$/, 'ConnectionReset'],
  [/^UND_ERR_SOCKET$/, 'ConnectionClosed', 'net::ERR_EMPTY_RESPONSE'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'NameNotResolved'],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'TimedOut'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'AddressUnreachable'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/,
    'Failed',
    'net::ERR_CERT_AUTHORITY_INVALID',
  ],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'Failed', 'net::ERR_CERT_DATE_INVALID'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'Failed', 'net::ERR_CERT_COMMON_NAME_INVALID'],
  [/^(EPROTO|ERR_SSL_\w+)$/, 'Failed', 'net::ERR_SSL_PROTOCOL_ERROR'],
  [/^ERR_HTTP2_\w+$/, 'Failed', 'net::ERR_HTTP2_PROTOCOL_ERROR'],
];

/** The reason why a request failed. */
export function failureOf(error: unknown): Failure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof TunnelError) {
    return { failure: 'Failed', netError: error.netError, proxyChallenge: error.challenge, detail: message };
  }
  // Of several addresses, the last one counts: the machine may have none of the first family.
  const { errors: [...tried] = [] } = error as Partial<AggregateError>;
  const last = (tried.at(-1) as NodeJS.ErrnoException | undefined)?.code ?? code;
  const [, failure = 'Failed', known] = FAILURES.find(([pattern]) => pattern.test(last)) ?? [];
  const netError: NetError | undefined = error instanceof UnusableResponse ? `net::${error.code}` : known;
  return { failure, netError, detail: message || code || String(error) };
}

/** Chromium's name for the reason why a proxy was not reached; null if it was. */
export function unreachedProxy(error: unknown): NetError | null {
  const { failure, netError } = failureOf(error);
  if (netError?.startsWith('net::ERR_CERT_')) return 'net::ERR_PROXY_CERTIFICATE_INVALID';
  return /^(ConnectionRefused|NameNotResolved|AddressUnreachable)$/.test(failure)
    ? 'net::ERR_PROXY_CONNECTION_FAILED'
    : null;
}

/** Chromium's name for the way a body was cut short. @param head of the response, as the server sent it */
export function howBroken({ code = '', name }: NodeJS.ErrnoException, head: string): NetError {
  if (/^(Z_|ERR__)/.test(code)) return 'net::ERR_CONTENT_DECODING_FAILED';
  if (name === 'HTTPParserError') return 'net::ERR_INVALID_CHUNKED_ENCODING';
  if (/^ERR_HTTP2_/.test(code)) return 'net::ERR_HTTP2_PROTOCOL_ERROR';
  const isOfKnownLength = /^content-length:/im.test(head) && !/^transfer-encoding:/im.test(head);
  return isOfKnownLength ? 'net::ERR_CONTENT_LENGTH_MISMATCH' : 'net::ERR_INCOMPLETE_CHUNKED_ENCODING';
}
