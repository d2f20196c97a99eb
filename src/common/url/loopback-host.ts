/** All spellings of hosts that are this machine. */
const LOOPBACK_HOST = /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** Whether the host of a parsed address is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOST.test(hostname);
}
