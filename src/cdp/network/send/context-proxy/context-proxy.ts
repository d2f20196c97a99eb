import { BlockList, isIP } from 'node:net';
import { wildcardTest } from '../../../../common/text/wildcard.ts';
import { isLoopbackHost } from '../../../../common/url/loopback.ts';
import { parsedUrl } from '../../../../common/url/parsed-url.ts';
import { LOOPBACK, type ProxiedHosts } from '../../hosts/proxied-hosts.ts';
import type { Connections } from '../connections.ts';

export interface ProxyServer {
  scheme: 'http' | 'https' | 'socks4' | 'socks5';
  /** Without brackets. */
  host: string;
  port: number;
}

type Rule = (url: URL) => boolean;

/** Part of a rule that names hosts: for `host:port`, where the port is always written. */
const HOSTS_OF_RULE = /^(\.?[\w*.-]+?)(?::(\d+))?$/;

const DEFAULT_PORTS = { http: 80, https: 443, socks4: 1080, socks5: 1080 } as const;
const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'ws:': '80', 'https:': '443', 'wss:': '443' };
/** Turns off Chromium's rule that bypasses a proxy for loopback and link-local hosts. Playwright always sets it. */
const NOT_LOOPBACK = '<-loopback>';

const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');

/** The proxy of a browser context, with the rules that Chromium has for it. */
export class ContextProxy {
  readonly server: ProxyServer;
  /** `Proxy-Authorization`, as soon as the client has provided it. */
  authorization: string | undefined;
  /** The connections through it, once there are any. */
  connections: Connections | undefined;
  /**
   * Hosts that are requested from this machine because the proxy is there. Servers on loopback are not among them: a
   * page needs more than the context's proxy to reach these.
   */
  readonly hosts: ProxiedHosts | undefined;
  readonly #bypass: Rule[];

  /** @param isHere whether the proxy is on this machine: all of it, or only for some origins */
  constructor(server: ProxyServer, bypass: string, isHere: boolean | readonly string[] = false) {
    const rules = bypass.split(/[,;]/).flatMap((text) => text.trim().toLowerCase() || []);
    this.server = server;
    this.#bypass = rules.filter((text) => text !== NOT_LOOPBACK).map(ruleOf);
    if (!rules.includes(NOT_LOOPBACK)) this.#bypass.push(isLocal);
    if (isHere === true) this.hosts = this.#hosts([''], ['http*'], [allBut(rules)]);
    else if (isHere) {
      const urls = isHere.map((origin) => new URL(origin));
      const patterns = urls.map(({ origin }) => `${origin}/*`);
      const expressions = urls.map(({ hostname, port }) => `^${escaped(hostname)}:${port || 443}$`);
      if (urls.length > 0) this.hosts = this.#hosts(isHere, patterns, expressions);
    }
  }

  #hosts(origins: readonly string[], urlPatterns: string[], hostExpressions: string[]): ProxiedHosts {
    const isNamed = (url: string) => {
      const { origin, hostname = '' } = parsedUrl(url.replace(/^ws/, 'http')) ?? {};
      return !isLoopbackHost(hostname) && origins.some((each) => each === '' || each === origin);
    };
    return {
      matches: (url) => this.serves(url) && !LOOPBACK.matches(url) && isNamed(url),
      urlPatterns,
      hostExpressions,
    };
  }

  /** Whether requests to an address go through it. */
  serves(url: string): boolean {
    const parsed = parsedUrl(url);
    return parsed !== null && PORTS[parsed.protocol] !== undefined && !this.#bypass.some((rule) => rule(parsed));
  }
}

/** Reads one proxy in Chromium's format: `[scheme://]host[:port]`; null for every other text. */
export function proxyServer(text: string): ProxyServer | null {
  const [, named = 'http', address = ''] = /^\s*(?:(\w+):\/\/)?([^/\s]+)\/?\s*$/.exec(text) ?? [];
  const scheme = named.toLowerCase().replace(/^socks$/, 'socks5');
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'socks4' && scheme !== 'socks5') return null;
  // Read as an address of another scheme, because `URL` does not parse hosts of `socks5:`.
  const parsed = parsedUrl(`ws://${address}`);
  if (parsed?.username !== '' || parsed.password !== '') return null;
  const written = /:(\d+)$/.exec(address)?.[1];
  return { scheme, host: unbracketed(parsed.hostname), port: Number(written ?? DEFAULT_PORTS[scheme]) };
}

/** The address of a proxy that speaks HTTP. */
export function originOf({ scheme, host, port }: ProxyServer): string {
  return `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** One rule of Chromium's list: `[scheme://]host[:port]` with `*`, `.domain`, a range of addresses, or `<local>`. */
function ruleOf(text: string): Rule {
  if (text === '<local>') return ({ hostname }) => !hostname.includes('.') && isIP(unbracketed(hostname)) === 0;
  const [, scheme, rest = ''] = /^(?:(\w+):\/\/)?(.*)$/.exec(text) ?? [];
  const isOfScheme: Rule = ({ protocol }) => scheme === undefined || protocol === `${scheme}:`;
  const range = /^\[?([\da-f.:]+)\]?\/(\d+)$/.exec(rest);
  if (range) {
    const inRange = rangeOf(String(range[1]), Number(range[2]));
    return (url) => isOfScheme(url) && inRange(unbracketed(url.hostname));
  }
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(isIP(rest) === 6 ? `[${rest}]` : rest) ?? [];
  const isOfHost = wildcardTest(globOf(host));
  return (url) =>
    isOfScheme(url) && isOfHost(url.hostname) && (port === undefined || (url.port || PORTS[url.protocol]) === port);
}

/** An expression for every `host:port` except those of rules that name hosts. */
function allBut(rules: readonly string[]): string {
  const bypassed = rules.flatMap((rule) => {
    const [, host, port = '\\d+'] = HOSTS_OF_RULE.exec(rule) ?? [];
    return host === undefined ? [] : `${globOf(host).split('*').map(escaped).join('.*')}:${port}`;
  });
  return bypassed.length === 0 ? '' : `^(?!(?:${bypassed.join('|')})$)`;
}

function globOf(host: string): string {
  return host.startsWith('.') ? `*${host}` : host;
}

function rangeOf(address: string, bits: number): (host: string) => boolean {
  const family = isIP(address);
  if (family === 0 || bits > (family === 6 ? 128 : 32)) return () => false;
  const list = new BlockList();
  list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4');
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

function isLocal({ hostname }: URL): boolean {
  const host = unbracketed(hostname);
  if (isLoopbackHost(host)) return true;
  return isIP(host) !== 0 && linkLocal.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function escaped(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}
