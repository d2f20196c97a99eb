import { parseNetworkRules } from './network-rules.ts';

/** What tells where a suite's own server is. */
export interface SuiteAddresses {
  baseURL?: string | undefined;
  webServer?: WebServer | readonly WebServer[] | null | undefined;
}

interface WebServer {
  url?: string | undefined;
  port?: number | undefined;
}

const LOOPBACK = '<loopback>';

/**
 * The rules of `exposeNetwork` with `'auto'` (also: not given) made out: `<loopback>` when the suite's `baseURL` or one
 * of its web servers is there, else none. A web server whose address the config does not tell (its output does) is
 * there too: Playwright starts it on this machine.
 */
export function exposedNetwork(option: string | undefined, { baseURL, webServer }: SuiteAddresses): string {
  if (option !== undefined && option !== 'auto') return option;
  const servers = [webServer ?? []].flat();
  const addresses = [baseURL, ...servers.map(({ url, port = '' }) => url ?? `http://localhost:${port}`)];
  const loopback = parseNetworkRules(LOOPBACK);
  return addresses.some((address) => address !== undefined && loopback.matches(address)) ? LOOPBACK : '';
}
