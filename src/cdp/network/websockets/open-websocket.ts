import { WebSocket } from 'ws';
import { connectionThrough, type Destination, type Dial } from '../../../common/dial/dial.ts';
import { failureOf } from '../send/failures.ts';
import { addressesOf, isLocalhost } from '../send/localhost.ts';
import type { ProxiedTraffic } from '../send/proxied-traffic.ts';

/** How a page's WebSocket is opened from this machine. */
export interface WebSocketOptions {
  protocols: string[];
  headers: Record<string, string>;
  ignoreHTTPSErrors: boolean;
  /** Default: the connection starts on this machine. */
  dial?: Dial | undefined;
  traffic?: ProxiedTraffic | undefined;
  /** Called at once with the headers that the handshake has besides. */
  onRequest(own: Record<string, string>): void;
}

/** Time limit for connecting, in ms. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Starts to open a WebSocket. Its events report the result. */
export function openWebSocket(
  url: string,
  { protocols, headers, ignoreHTTPSErrors, dial, traffic, onRequest }: WebSocketOptions,
): WebSocket {
  return new WebSocket(url, protocols, {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    rejectUnauthorized: !ignoreHTTPSErrors,
    finishRequest: (request) => {
      request.once('socket', (socket) => traffic?.follow(socket));
      // As a browser writes it.
      if (protocols.length > 0) request.setHeader('Sec-WebSocket-Protocol', protocols.join(', '));
      const all = Object.entries(request.getHeaders()).map(([name, value]) => [name, String(value)]);
      onRequest(Object.fromEntries(all.filter(([name = '']) => headers[name] === undefined)));
      request.end();
    },
    ...(dial
      ? { createConnection: connectionThrough(dial, destinationOf(url, !ignoreHTTPSErrors)) }
      : addressesOf(isLocalhost(new URL(url).hostname), HANDSHAKE_TIMEOUT_MS)),
  });
}

function destinationOf(url: string, rejectUnauthorized: boolean): Destination {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'wss:';
  return { hostname, port: Number(port) || (isSecure ? 443 : 80), isSecure, rejectUnauthorized };
}

const HANDSHAKE = 'Error during WebSocket handshake:';

/** Chromium's descriptions of failures, by those of `ws`; `$1` is what the expression finds. */
const DESCRIPTIONS: readonly [found: RegExp, description: string][] = [
  [/^Unexpected server response: (\d+)/, `${HANDSHAKE} Unexpected response code: $1`],
  // Chromium takes a response without a status line for one of HTTP/0.9.
  [/^Parse Error: Expected HTTP\/.*/, `${HANDSHAKE} Unexpected response code: 200`],
  [/^Parse Error: .*/, `${HANDSHAKE} net::ERR_INVALID_HTTP_RESPONSE`],
  [
    /^Server sent no subprotocol$/,
    `${HANDSHAKE} Sent non-empty 'Sec-WebSocket-Protocol' header but no response was received`,
  ],
  [
    /^Server sent a subprotocol but none was requested$/,
    `${HANDSHAKE} Response must not include 'Sec-WebSocket-Protocol' header if not present in request`,
  ],
  [
    /^Server sent an invalid subprotocol$/,
    `${HANDSHAKE} 'Sec-WebSocket-Protocol' header value in response does not match any of sent values`,
  ],
  [/^Invalid Sec-WebSocket-Accept header$/, `${HANDSHAKE} Incorrect 'Sec-WebSocket-Accept' header value`],
  [/^Invalid Upgrade header$/, `${HANDSHAKE} 'Upgrade' header is missing`],
  [/^socket hang up$/, 'Connection closed before receiving a handshake response'],
  [
    /^WebSocket was closed before the connection was established$/,
    'WebSocket is closed before the connection is established.',
  ],
  [/^Invalid WebSocket frame: RSV.*/, 'One or more reserved bits are on'],
  [/^Invalid WebSocket frame: invalid UTF-8 sequence$/, 'Could not decode a text frame as UTF-8.'],
];

/** Why a WebSocket failed, in Chromium's words. */
export function describeFailure(error: NodeJS.ErrnoException): string {
  for (const [found, description] of DESCRIPTIONS) {
    if (found.test(error.message)) return error.message.replace(found, description);
  }
  if (error.code?.startsWith('WS_ERR_')) return error.message;
  const { failure, netError } = failureOf(error);
  const name = failure.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  return `Error in connection establishment: ${netError ?? `net::ERR_${name}`}`;
}
