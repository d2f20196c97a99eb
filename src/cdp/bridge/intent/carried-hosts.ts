import type { BridgedHosts } from '../bridged-hosts.ts';
import type { IntendedPlaces } from './intended-places.ts';

/** Of `file:` addresses. */
const ALL_FILES = 'file:///*';

/** Listed hosts, and what a test has gone to. */
export function carriedHosts(listed: BridgedHosts, places: IntendedPlaces | undefined): BridgedHosts {
  if (!places) return listed;
  const origins = [...places.origins];
  return {
    matches: (url) => listed.matches(url) || places.has(url),
    urlPatterns: [
      ...listed.urlPatterns,
      ...origins.flatMap((origin) => [`${origin}/*`, `${origin.replace('//', '//*@')}/*`]),
      ...(places.folders.size > 0 ? [ALL_FILES] : []),
    ],
    hostExpressions: [...listed.hostExpressions, ...origins.map(hostExpression)],
  };
}

function hostExpression(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `^${`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`.replace(/[.[\]]/g, '\\$&')}$`;
}
