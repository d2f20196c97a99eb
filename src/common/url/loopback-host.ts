const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/;

/** Whether a host of a URL, or an address to listen on, is this machine's loopback. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}
