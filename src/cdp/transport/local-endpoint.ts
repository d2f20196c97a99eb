import { constants } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CdpTransport } from './transport.ts';

/** A connection of a client on this machine. */
export interface LocalClient {
  /** Paused: resume it after adding listeners, so that no message is lost. */
  socket: WebSocket;
  userAgent: string;
}

/** A local address, for a client that accepts only addresses. */
export interface LocalEndpoint {
  /** `ws://127.0.0.1:<port>/<secret>` */
  address: string;
  /** Resolves with the client's connection. Stays pending if it never connects. */
  connected: Promise<LocalClient>;
  /** Closes the port and the connection. */
  close(): void;
}

/** Opens a local address. It accepts one connection; the port closes as soon as that is open. */
export async function openLocalEndpoint(): Promise<LocalEndpoint> {
  const path = `/${randomUUID()}`;
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    path,
    perMessageDeflate: false,
    // The same limit as our own connection.
    maxPayload: constants.MAX_STRING_LENGTH,
  });
  let opened: WebSocket | undefined;
  const closePort = () => {
    sockets.close();
    server.close();
  };
  const connected = new Promise<LocalClient>((resolve) => {
    sockets.once('connection', (socket, { headers }) => {
      opened = socket;
      socket.pause();
      // A failing socket closes, too.
      socket.on('error', () => undefined);
      closePort();
      resolve({ socket, userAgent: headers['user-agent'] ?? '' });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    closePort();
    opened?.terminate();
  };
  return { address: `ws://127.0.0.1:${port}${path}`, connected, close };
}

/** WebSocket close code of a normal closure. */
const NORMAL_CLOSURE = 1000;

/**
 * Makes a transport available at a local address, for a Playwright that accepts only addresses. It accepts one
 * connection; the port closes as soon as that is open, or when the transport closes. The tunnel owns the transport and
 * closes it together with its connection.
 */
export async function openTunnel(transport: CdpTransport): Promise<string> {
  const { address, connected, close } = await openLocalEndpoint();
  let isOpen = false;
  void connected.then(({ socket }) => {
    isOpen = true;
    join(socket, transport);
    socket.resume();
  });
  // This wait ends with the transport: the caller closes it when connecting fails. An open connection gets the reason.
  void transport.closed.then(() => isOpen || close());
  return address;
}

function join(socket: WebSocket, transport: CdpTransport): void {
  transport.onmessage = (message, text) => socket.send(text ?? JSON.stringify(message));
  transport.onclose = (reason) => socket.close(NORMAL_CLOSURE, (reason ?? '').slice(0, 100));
  socket.on('message', (data) => {
    const text = String(data);
    transport.send(JSON.parse(text), text);
  });
  socket.on('close', () => transport.close());
}
