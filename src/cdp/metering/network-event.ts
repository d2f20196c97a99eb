import type { Protocol } from 'devtools-protocol';
import type { Fields } from '../transport/message.ts';

/*
 * The parts of the browser's events that the meter reads. Every value is checked where it is used, so an event with an
 * unexpected shape counts as zero.
 */

/** A response's head. */
export type ResponseFields = Fields<Protocol.Network.Response>;

/** A number of bytes; the browser reports -1 for "unknown". */
export function size(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

/** Whether a response came over the browser's network: not from a cache, the browser itself or a route. */
export function cameOverNetwork(response: ResponseFields): boolean {
  if (response.fromDiskCache === true || response.fromServiceWorker === true || response.fromPrefetchCache === true) {
    return false;
  }
  // `chrome:` and other built-in addresses report sizes too.
  if (!isRemote(response.url)) return false;
  // Responses from `route.fulfill()` have no connection.
  return (
    response.connectionId !== 0 || (typeof response.remoteIPAddress === 'string' && response.remoteIPAddress !== '')
  );
}

/** Whether an address is reached over the network. */
export function isRemote(url: unknown): boolean {
  return typeof url === 'string' && (url.startsWith('http:') || url.startsWith('https:'));
}

/** Bytes of the response to a WebSocket handshake. */
export function handshakeSize(response: Fields<Protocol.Network.WebSocketResponse>): number {
  return typeof response.headersText === 'string' ? response.headersText.length : 0;
}

const TEXT = 1;

/** Bytes of a WebSocket frame: frame header and uncompressed payload. */
export function frameSize({ opcode, mask, payloadData }: Fields<Protocol.Network.WebSocketFrame>): number {
  if (typeof payloadData !== 'string') return 0;
  // Everything except text is reported in base64.
  const payload = Buffer.byteLength(payloadData, opcode === TEXT ? 'utf8' : 'base64');
  const lengthField = payload < 126 ? 0 : payload < 65_536 ? 2 : 8;
  return 2 + lengthField + (mask === true ? 4 : 0) + payload;
}
