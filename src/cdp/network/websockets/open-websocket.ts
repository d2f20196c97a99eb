import type { createConnection } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { ProxiedTraffic } from '../proxied-traffic.ts';
import { type Destination, type Dial, dialServer } from '../proxy/dial.ts';
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
      ? { createConnection: connecting(dial, destinationOf(url, !ignoreHTTPSErrors)) }
      : addressesOf(isLocalhost(new URL(url).hostname), HANDSHAKE_TIMEOUT_MS)),
  });
}

/** Node waits for the callback if there is no stream yet. */
function connecting(dial: Dial, destination: Destination): typeof createConnection {
  return ((_options: unknown, done: (error: Error | null, stream?: Duplex) => void) => {
    dialServer(dial, destination).then((stream) => done(null, stream), done);
  }) as unknown as typeof createConnection;
}

function destinationOf(url: string, rejectUnauthorized: boolean): Destination {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'wss:';
  return { hostname, port: Number(port) || (isSecure ? 443 : 80), isSecure, rejectUnauthorized };
}
