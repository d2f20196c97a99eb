import type { NetworkRequest } from '../../model/requests.ts';
import { byLowerCase } from '../headers/header-list.ts';

/** Headers that the browser sets itself, in ASCII. */
const BROWSERS_OWN =
  /^(accept|accept-(encoding|language)|cache-control|content-(length|type)|cookie|host|if-.*|origin|pragma|purpose|range|referer|sec-.*|upgrade-insecure-requests|user-agent)$/i;

/** Whether a script may have set one of these headers to bytes that are not UTF-8. */
export function mayHaveOwnBytes(headers: Record<string, string>): boolean {
  return !Object.keys(headers).every((name) => BROWSERS_OWN.test(name));
}

/**
 * Wire text of header values with bytes that are not UTF-8, which scripts may pass to `fetch()`. When the browser
 * pauses a request, it drops such bytes and some of those after them; when it announces the request, they are complete.
 * @returns the value by lower-case header name, where the paused request has a wrong one
 */
export function announcedValues(
  request: Pick<NetworkRequest, 'headers'> | null | undefined,
  stopped: Record<string, string>,
): Map<string, string> {
  const left = byLowerCase(stopped);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(request?.headers ?? {})) {
    const isLatin1 = typeof value === 'string' && /[\x80-\xff]/.test(value) && !/[^\0-\xff]/.test(value);
    // Both are equal: the browser itself has converted the value to UTF-8.
    if (isLatin1 && left[name.toLowerCase()] !== value) values.set(name.toLowerCase(), value);
  }
  return values;
}
