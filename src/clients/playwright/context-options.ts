import type { BrowserContextOptions } from '@playwright/test';
import { proxyServer } from '../../cdp/network/send/context-proxy/context-proxy.ts';
import { isLoopbackHost } from '../../common/url/loopback.ts';
import { parsedUrl } from '../../common/url/parsed-url.ts';
import { OptionsError } from '../../errors.ts';
import { parseExposure } from '../../options/expose-network.ts';
import type { ConnectionSettings } from '../../options/schema/plan.ts';

/** Adapts the options of `newContext` to a hosted browser. */

/** Emulation that would contradict a browser's own identity, each with the value that turns it off. */
const IDENTITY = {
  userAgent: undefined,
  viewport: null,
  screen: undefined,
  deviceScaleFactor: undefined,
  isMobile: undefined,
  hasTouch: undefined,
  locale: undefined,
  timezoneId: undefined,
  colorScheme: null,
  reducedMotion: null,
  forcedColors: null,
  contrast: null,
} as const satisfies BrowserContextOptions;

/** Values that Playwright Test passes by default. Dropping them needs no warning. */
const DEFAULTS: BrowserContextOptions = {
  viewport: { width: 1280, height: 720 },
  deviceScaleFactor: 1,
  isMobile: false,
  hasTouch: false,
  locale: 'en-US',
  colorScheme: 'light',
};

/** Options from `use`, which Playwright adds to those of `newContext`. */
type Used = Readonly<Record<string, unknown>>;

interface Kept<O> {
  kept: O;
  /** Names those that the user set; null: none. */
  note: string | null;
}

/** Returns the options without emulation, for a browser of this type that keeps its identity. */
export function withoutEmulation<O extends BrowserContextOptions>(type: string, options: O, use: Used): Kept<O> {
  const names = Object.keys(IDENTITY) as (keyof typeof IDENTITY)[];
  const dropped = names.filter((name) => {
    const given = options[name] ?? use[name];
    return given != null && JSON.stringify(given) !== JSON.stringify(DEFAULTS[name]);
  });
  const how = "set `hosted: { identity: 'override' }` to apply them";
  const note = `a ${type} browser keeps its own identity; ignored: ${dropped.join(', ')} (${how})`;
  return { kept: { ...options, ...IDENTITY }, note: dropped.length > 0 ? note : null };
}

/** Options that only a new context can have. Playwright implements both with a proxy. */
const ONLY_NEW = ['proxy', 'clientCertificates'] as const;

/**
 * Rejects options that the browser's default context cannot have.
 * @param where where the options are set, for the error
 * @throws OptionsError
 */
export function assertPersistent(options: BrowserContextOptions, where: string): void {
  const name = ONLY_NEW.find((each) => options[each] !== undefined);
  if (!name) return;
  const instead = name === 'proxy' ? 'Set `session.proxyUrl` for the whole browser, or' : 'Set';
  throw new OptionsError(
    `${where}.${name}`,
    `\`${where}.${name}\` is not supported in a persistent context, which is the browser's own. ${instead} \`hosted: { context: 'isolated' }\`.`,
  );
}

/**
 * Rejects client certificates and proxies that a hosted browser cannot use: this machine presents and connects to them,
 * for the requests that it makes itself.
 * @throws OptionsError
 */
export function assertReachable(
  { clientCertificates = [], proxy }: Pick<BrowserContextOptions, 'clientCertificates' | 'proxy'>,
  { exposeNetwork, way }: Pick<ConnectionSettings, 'exposeNetwork' | 'way'>,
): void {
  const { hosts, auto } = parseExposure(exposeNetwork);
  if (clientCertificates.length > 0 && way !== undefined) {
    const field = 'newContext.clientCertificates';
    throw new OptionsError(
      field,
      `\`${field}\` is not supported through a ${way.name}. Remove the option \`${way.name}\`.`,
    );
  }
  if (hosts || auto) return;
  if (clientCertificates.length > 0) {
    const field = 'newContext.clientCertificates';
    throw new OptionsError(
      field,
      `\`${field}\` needs \`exposeNetwork\`: this machine presents the certificates, and \`exposeNetwork: 'none'\` keeps all requests away from it.`,
    );
  }
  const server = proxy ? proxyServer(proxy.server) : null;
  if (!server || !isLoopbackHost(server.host)) return;
  throw new OptionsError(
    'newContext.proxy',
    `\`newContext.proxy\`: a hosted browser reaches the proxy ${server.host}:${server.port} of this machine only through it, and \`exposeNetwork: 'none'\` keeps all requests away from it. Remove that, or set \`session: { proxyUrl }\` to a proxy on the internet.`,
  );
}

/**
 * The proxies that tests name. Playwright has others: one for each context with client certificates. Which one belongs
 * to which context is unknown, so each may serve all origins that any test has named.
 */
export class TestProxies {
  readonly #named = new Set<string>();
  readonly #origins = new Set<string>();

  add({ proxy, clientCertificates = [] }: Pick<BrowserContextOptions, 'clientCertificates' | 'proxy'>): void {
    if (proxy) this.#named.add(normalized(proxy.server));
    for (const { origin } of clientCertificates) {
      const url = parsedUrl(origin);
      // Playwright rejects others.
      if (url) this.#origins.add(url.origin);
    }
  }

  /** Null for a proxy that a test named. */
  originsOf(server: string): string[] | null {
    return this.#named.has(normalized(server)) ? null : [...this.#origins];
  }
}

function normalized(server: string): string {
  const { scheme, host, port } = proxyServer(server) ?? {};
  return `${scheme}://${host}:${port}`;
}
