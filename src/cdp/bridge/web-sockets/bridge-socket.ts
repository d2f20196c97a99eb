import { WebSocket } from 'ws';
import { addressesOf } from '../requests/localhost.ts';

/** How a page's WebSocket is opened from this machine. */
export interface BridgeSocketOptions {
  protocols: string[];
  headers: Record<string, string>;
  ignoreHTTPSErrors: boolean;
}

/** Bound on connecting, in ms. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Begins to open one. What comes of it is in its events. */
export function openBridgeSocket(
  url: string,
  { protocols, headers, ignoreHTTPSErrors }: BridgeSocketOptions,
): WebSocket {
  return new WebSocket(url, protocols, {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    rejectUnauthorized: !ignoreHTTPSErrors,
    ...addressesOf(new URL(url).hostname, HANDSHAKE_TIMEOUT_MS),
  });
}
