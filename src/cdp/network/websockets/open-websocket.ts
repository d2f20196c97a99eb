import { WebSocket } from 'ws';
import type { ProxiedTraffic } from '../proxied-traffic.ts';
import { type Dial, dialServer } from '../proxy/dial.ts';
import { addressesOf, isLocalhost } from '../proxy/localhost.ts';

/** How a page's WebSocket is opened from this machine. */
export interface WebSocketOptions {
  protocols: string[];
  headers: Record<string, string>;
  ignoreHTTPSErrors: boolean;
  /** Default: the connection starts on this machine. */
  dial?: Dial | undefined;
  traffic?: ProxiedTraffic | undefined;
}

/** Time limit for connecting, in ms. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Starts to open a WebSocket. Its events report the result. */
export function openWebSocket(
  url: string,
  { protocols, headers, ignoreHTTPSErrors, dial, traffic }: WebSocketOptions,
): WebSocket {
  return new WebSocket(url, protocols, {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    rejectUnauthorized: !ignoreHTTPSErrors,
    finishRequest: (request) => {
      request.once('socket', (socket) => traffic?.follow(socket));
      request.end();
    },
    ...(dial
      ? { createConnection: () => dialServer(dial, destinationOf(url, !ignoreHTTPSErrors)) }
      : addressesOf(isLocalhost(new URL(url).hostname), HANDSHAKE_TIMEOUT_MS)),
  });
}

function destinationOf(url: string, rejectUnauthorized: boolean) {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'wss:';
  return { hostname, port: Number(port) || (isSecure ? 443 : 80), isSecure, rejectUnauthorized };
}
