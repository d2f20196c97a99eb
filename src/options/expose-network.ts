import { NetworkRuleError, type NetworkRules, parseNetworkRules } from './network-rules.ts';

/** The parts of a config that name the suite's server. */
export interface SuiteAddresses {
  baseURL?: string | undefined;
  webServer?: WebServer | readonly WebServer[] | null | undefined;
}

interface WebServer {
  url?: string | undefined;
  port?: number | undefined;
}

/** The hosts that pages of a hosted browser reach through the test machine. */
export interface Exposure {
  /** Hosts that every page reaches, and with `<files>` what `file:` pages do; null: none. */
  hosts: NetworkRules | null;
  /** The origins that the test itself navigates to, for their pages. */
  auto: boolean;
}

const LOOPBACK = '<loopback>';
const FILES = '<files>';
const AUTO = 'auto';
const NONE = 'none';

/**
 * The value of `exposeNetwork` with what `'auto'` (also: not given) leaves to the suite made out: `<loopback>` too when
 * the suite's `baseURL` or one of its web servers is there. A web server whose address the config does not tell (its
 * output does) is there too: Playwright starts it on this machine.
 */
export function exposedNetwork(option: string | undefined, { baseURL, webServer }: SuiteAddresses): string {
  if (option !== undefined && option !== AUTO) return option;
  const servers = [webServer ?? []].flat();
  const addresses = [baseURL, ...servers.map(({ url, port = '' }) => url ?? `http://localhost:${port}`)];
  const loopback = parseNetworkRules(LOOPBACK);
  return addresses.some((address) => address !== undefined && loopback.matches(address)) ? `${AUTO},${LOOPBACK}` : AUTO;
}

/**
 * Reads a value of `exposeNetwork`: `'none'` (as the empty text), or rules, with `auto` among them for what the test
 * itself goes to, and `<files>` for the files of this machine.
 * @throws NetworkRuleError
 */
export function parseExposure(text: string): Exposure {
  const rules = text.split(',').map((rule) => rule.trim());
  if (rules.includes(NONE) && rules.length > 1) {
    throw new NetworkRuleError(`the rule "${NONE}" cannot be combined with others`);
  }
  if (text.trim() === '' || rules.includes(NONE)) return { hosts: null, auto: false };
  const auto = rules.includes(AUTO);
  const hosts = rules.filter((rule) => rule !== AUTO && rule !== FILES).join(',');
  if (rules.includes(FILES)) return { hosts: withFiles(parseNetworkRules(hosts)), auto };
  return { hosts: hosts === '' ? null : parseNetworkRules(hosts), auto };
}

function withFiles({ matches, hostExpressions, urlPatterns }: NetworkRules): NetworkRules {
  return {
    matches: (url) => url.startsWith('file:///') || matches(url),
    hostExpressions,
    urlPatterns: [...urlPatterns, 'file:///*'],
  };
}
