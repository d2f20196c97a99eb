import { type CdpMessage, parseMessage } from '../../../../../src/cdp/transport/message.ts';

/**
 * One line of a recording: what the client sent or the browser said, and what the interceptor then sent to the browser
 * or the client. `null` in the place of a message: the last one that came in, passed on as it was. The last line says how
 * many bytes the site has sent.
 */
export type Entry =
  | ['client' | 'browser', CdpMessage]
  | ['to browser' | 'to client', CdpMessage | null]
  | ['site sent', number];

/** Longer text says nothing more: Playwright's own scripts, pictures. */
const LONGEST_TEXT = 110;

/** Times, which are other ones each time that something is made up. */
const TIMES = new Set(['timestamp', 'wallTime', 'requestTime']);
/** What no interceptor looks at, and takes room. */
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

/** What a recording names by other names than the machine and the run that it was made on, or is played on. */
export interface Names {
  /** `host:port` of the site. */
  site: string;
  /** A folder of this machine. */
  folder: string;
}

/** A message as it stands in a recording. */
export function written(message: CdpMessage, { site, folder }: Names): CdpMessage {
  const text = JSON.stringify(message, (key, value) => {
    if (TIMES.has(key)) return 0;
    if (LEFT_OUT.has(key)) return undefined;
    if (key === 'remotePort' && site.endsWith(`:${value}`)) return '{port of the site}';
    if (typeof value !== 'string') return value;
    // Drawn anew for each link.
    if (key === 'worldName' && UUID.test(value)) return 'world';
    const named = value
      .replaceAll(site, '{site}')
      .replaceAll(folder, '{folder}')
      .replaceAll(/\/[^"\s]*playwright-artifacts-\w+/g, '{folder}')
      .replaceAll(/poolwright-[\da-f-]{36}/g, 'remote')
      // As good as the whole of it.
      .replaceAll(/\b([\dA-F]{10})[\dA-F]{22}\b/g, '$1')
      // Minified: other names each time that it is changed. What it is given names the site in a regular expression.
      .replace(/(?:"use strict";)?var page=.*(?=return page\.)/s, '{page}')
      .replace(/page\.run\(.*\)/, 'page.run()')
      // Drawn anew for each link.
      .replaceAll(/(bridge|answers)[\da-f]{32}/g, '$1#');
    return named.length > LONGEST_TEXT ? `${named.slice(0, LONGEST_TEXT)}…` : named;
  });
  return JSON.parse(text);
}

/** A message of a recording as it is played. */
export function played(message: CdpMessage, { site, folder }: Names): CdpMessage {
  const text = JSON.stringify(message).replaceAll('{site}', site).replaceAll('{folder}', folder);
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
