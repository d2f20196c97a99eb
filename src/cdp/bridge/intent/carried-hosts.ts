import type { BridgedHosts } from '../bridged-hosts.ts';
import { originOf } from './loopback-origin.ts';

/** Listed hosts and single origins together. */
export function carriedHosts(listed: BridgedHosts, origins: ReadonlySet<string> | undefined): BridgedHosts {
  if (!origins || origins.size === 0) return listed;
  const all = [...origins];
  return {
    matches: (url) => listed.matches(url) || origins.has(originOf(url.replace(/^ws/, 'http')) ?? ''),
    urlPatterns: [...listed.urlPatterns, ...all.map((origin) => `${origin}/*`)],
    hostExpressions: [...listed.hostExpressions, ...all.map(hostExpression)],
  };
}

function hostExpression(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `^${`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`.replace(/[.[\]]/g, '\\$&')}$`;
}
