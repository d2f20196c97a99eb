import { isIPv6 } from 'node:net';
import { shownAddress } from '../common/text/shown-fields.ts';
import { type HostForms, isBlockedPort, loopbackHosts, urlPatternsOf } from '../common/url/host-rules.ts';
import { parsedUrl } from '../common/url/parsed-url.ts';

/** Which requests of a hosted browser go through the test machine. */
export interface NetworkRules {
  /**
   * Whether an `http:`, `https:`, `ws:` or `wss:` address is on a listed host; false for every other text, and for
   * ports that browsers do not connect to.
   */
  matches(url: string): boolean;
  /** The same for Chromium, as URL globs. They may take in more, never less. */
  readonly urlPatterns: readonly string[];
  /** The same, exactly, as regular expressions for `host:port`. */
  readonly hostExpressions: readonly string[];
}

const LOOPBACK = '<loopback>';
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 };

interface Rule {
  hosts: HostForms;
  /** Null: every port. */
  port: number | null;
}

/** A rule that cannot be read; `message` says which and why, without the option's name. */
export class NetworkRuleError extends Error {
  override readonly name = 'NetworkRuleError';
}

/**
 * Reads the value of `exposeNetwork`, in Playwright's syntax: rules between commas, each a host, a host with `*` in it,
 * an IP address (IPv6 in brackets), `<loopback>` or `*`, and optionally `:port`. The empty text lists nothing. Besides
 * what it is in Playwright, `<loopback>` is every other host of this machine ({@link loopbackHosts}).
 * @throws NetworkRuleError for a rule that is malformed, or matches everything without being `*`
 */
export function parseNetworkRules(text: string): NetworkRules {
  const rules = text.trim() === '' ? [] : text.split(',').map((rule) => parseRule(rule.trim()));
  const hostExpressions = rules.flatMap(expressionsOf);
  const tests = hostExpressions.map((expression) => new RegExp(expression));
  return {
    matches: (address) => {
      const parsed = parsedUrl(address);
      if (!parsed || isBlockedPort(parsed)) return false;
      const { protocol, hostname, port } = parsed;
      const defaultPort = DEFAULT_PORTS[protocol];
      if (defaultPort === undefined) return false;
      return tests.some((test) => test.test(`${hostname}:${port || defaultPort}`));
    },
    hostExpressions,
    urlPatterns: rules.flatMap(patternsOf),
  };
}

function parseRule(rule: string): Rule {
  // An address may have a password in it.
  const shown = /[@/?#]/.test(rule) ? shownAddress(rule) : rule;
  const named = shown === null ? 'with a path, a query or an "@"' : JSON.stringify(shown);
  const fail = (reason: string) => new NetworkRuleError(`the rule ${named} ${reason}`);
  if (rule === '')
    throw fail('is empty: write hosts between commas, for example "<loopback>,*.internal,10.0.0.7:8080"');
  // Without brackets its last group would be taken for a port.
  if (isIPv6(rule)) throw fail(`is an IPv6 address without brackets: write "[${rule}]"`);
  const [, name = '', digits] = /^(.*?)(?::(\d*))?$/.exec(rule) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (digits === '' || port < 1 || port > 65_535)) {
    throw fail('has a wrong port: expected 1 to 65535 after the colon');
  }
  if (name === LOOPBACK) return { hosts: loopbackHosts(), port };
  if (name === '*') return { hosts: formsOf('*'), port };
  // As in Playwright, `.internal` means the hosts below it.
  const host = canonicalHost(name.startsWith('.') ? `*${name}` : name);
  if (host === null) {
    throw fail(
      'is not a valid host: expected a name, a name with `*`, an IP address, <loopback> or *, without scheme and path',
    );
  }
  if (/^[*.]+$/.test(host)) throw fail('matches everything: write "*" if you mean that');
  return { hosts: formsOf(host), port };
}

/** As the browser writes it in a URL; null if it is not a valid host. */
function canonicalHost(name: string): string | null {
  if (!/^(\[[\da-f:.]+\]|[^\s/\\?#@:<>[\]]+)$/i.test(name)) return null;
  return parsedUrl(`http://${name}/`)?.hostname ?? null;
}

function expressionsOf({ hosts, port }: Rule): string[] {
  return hosts.expressions.map((host) => `^${host}:${port ?? '\\d+'}$`);
}

function formsOf(host: string): HostForms {
  return { globs: [host], expressions: [hostExpression(host)] };
}

function hostExpression(glob: string): string {
  if (glob === '*') return '.*';
  if (!glob.includes('*')) return escaped(glob);
  // A name with a star means names: `1*` is not 10.0.0.7.
  return `(?!\\[|(?:\\d+\\.){3}\\d+:)${glob.split('*').map(escaped).join('.*')}`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function patternsOf({ hosts, port }: Rule): string[] {
  return hosts.globs.flatMap((host) => urlPatternsOf(host, port));
}
