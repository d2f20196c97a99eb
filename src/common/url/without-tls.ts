const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/;

/** Whether a relay may listen on this host, or be reached there, without TLS. Never 0.0.0.0: others reach it. */
export function needsNoTls(host: string): boolean {
  return LOOPBACK.test(host);
}
