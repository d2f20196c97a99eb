import { WebSocket } from 'ws';
import { addressesOf, isLocalhost } from '../proxy/localhost.ts';

/** How a page's WebSocket is opened from this machine. */
export interface WebSocketOptions {
  protocols: string[];
  headers: Record<string, string>;
  ignoreHTTPSErrors: boolean;
}

/** Time limit for connecting, in ms. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Starts to open a WebSocket. Its events report the result. */
export function openWebSocket(url: string, { protocols, headers, ignoreHTTPSErrors }: WebSocketOptions): WebSocket {
  return new WebSocket(url, protocols, {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    rejectUnauthorized: !ignoreHTTPSErrors,
    ...addressesOf(isLocalhost(new URL(url).hostname), HANDSHAKE_TIMEOUT_MS),
  });
}
