/** A failure as Chromium names it. */
export type NetError = `net::ERR_${string}`;

/** Chromium's own words for what CDP has none for when a request is failed, by Node's. */
const NET_ERRORS: readonly [code: RegExp, error: string][] = [
  [/^UND_ERR_SOCKET$/, 'EMPTY_RESPONSE'],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/, 'CERT_AUTHORITY_INVALID'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'CERT_DATE_INVALID'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'CERT_COMMON_NAME_INVALID'],
  [/^(EPROTO|ERR_SSL_\w+)$/, 'SSL_PROTOCOL_ERROR'],
  [/^HPE_\w+$/, 'INVALID_HTTP_RESPONSE'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'RESPONSE_HEADERS_TOO_BIG'],
];

/** The name of a failure as Chromium has it; undefined where CDP's own reason says the same. */
export function netErrorOf(code: string | undefined): NetError | undefined {
  const known = NET_ERRORS.find(([pattern]) => code !== undefined && pattern.test(code));
  return known && `net::ERR_${known[1]}`;
}
