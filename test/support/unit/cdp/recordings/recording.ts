import { type CdpMessage, parseMessage } from '../../../../../src/cdp/message.ts';

/**
 * One line of a recording: a message of the client or the browser, and then what the interceptor sends to the browser
 * or the client. `null` instead of a message: the last incoming one, forwarded unchanged. The last line has the number
 * of bytes that the site has sent.
 */
export type Entry =
  | ['client' | 'browser', CdpMessage]
  | ['to browser' | 'to client', CdpMessage | null]
  | ['site sent', number];

/** Longer text carries no more information: Playwright's own scripts, images. */
const LONGEST_TEXT = 110;

/** Times, which differ whenever a message is generated. */
const TIMES = new Set(['timestamp', 'wallTime', 'requestTime']);
/** Fields that no interceptor uses, omitted to save space. */
const LEFT_OUT = new Set([
  'adFrameStatus',
  'alternateProtocolUsage',
  'associatedCookies',
  'charset',
  'clientSecurityState',
  'connectTiming',
  'crossOriginIsolatedContextType',
  'exemptedCookies',
  'gatedAPIFeatures',
  'initialPriority',
  'initiator',
  'mixedContentType',
  'referrerPolicy',
  'responseTime',
  'secureContextType',
  'securityOriginDetails',
  'securityState',
  'timing',
]);

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Values in a recording that are replaced by names, because they depend on the machine and the run. */
export interface Names {
  /** `host:port` of the site. */
  site: string;
  /** A directory on this machine. */
  directory: string;
  /** The interceptor's own world, once it has created one. */
  world?: string;
}

/** A message as it is written to a recording. */
export function written(message: CdpMessage, { site, directory }: Names): CdpMessage {
  const text = JSON.stringify(message, (key, value) => {
    if (TIMES.has(key)) return 0;
    if (LEFT_OUT.has(key)) return undefined;
    if (key === 'remotePort' && site.endsWith(`:${value}`)) return '{port of the site}';
    if (typeof value !== 'string') return value;
    // Random for each connection.
    if ((key === 'worldName' || key === 'name') && UUID.test(value)) return '{world}';
    const named = value
      .replaceAll(site, '{site}')
      .replaceAll(directory, '{directory}')
      .replaceAll(/\/[^"\s]*playwright-artifacts-\w+/g, '{directory}')
      .replaceAll(/poolwright-[\da-f-]{36}/g, 'remote')
      // A prefix identifies it well enough.
      .replaceAll(/\b([\dA-F]{10})[\dA-F]{22}\b/g, '$1')
      // Minified code changes with every modification. Its argument contains the site in a regular expression.
      .replace(/(?:"use strict";)?var page=.*(?=return page\.)/s, '{page}')
      .replace(/page\.run\(.*\)/, 'page.run()')
      // Random for each connection.
      .replaceAll(/(network)[\da-f]{32}/g, '$1#')
      .replace(/(Symbol\.for\(")[\da-f-]{36}.*/, '$1#');
    return named.length > LONGEST_TEXT ? `${named.slice(0, LONGEST_TEXT)}…` : named;
  });
  return JSON.parse(text);
}

/** A message of a recording as it is replayed. */
export function played(message: CdpMessage, { site, directory, world = '' }: Names): CdpMessage {
  const text = JSON.stringify(message)
    .replaceAll('{site}', site)
    .replaceAll('{directory}', directory)
    .replaceAll('{world}', world);
  const parsed = parseMessage(text);
  if (!parsed) throw new Error(`no message: ${text}`);
  return parsed;
}

export function parseRecording(text: string): Entry[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
