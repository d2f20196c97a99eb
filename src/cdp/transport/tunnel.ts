import { constants } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CdpTransport } from './transport.ts';

/** Code of a WebSocket that was closed as it should be. */
const NORMAL_CLOSURE = 1000;

/**
 * A transport as an address of this machine, for a Playwright that takes nothing else: `ws://127.0.0.1:<port>/<secret>`.
 * It is good for one connection; the port is closed as soon as that is made, or when the transport's link goes down.
 * The transport is this tunnel's from now on, and ends with its connection.
 */
export async function openTunnel(transport: CdpTransport): Promise<string> {
  const path = `/${randomUUID()}`;
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    path,
    perMessageDeflate: false,
    // As much as our own link takes.
    maxPayload: constants.MAX_STRING_LENGTH,
  });
  const closePort = () => {
    sockets.close();
    server.close();
  };
  sockets.once('connection', (socket) => {
    closePort();
    join(socket, transport);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The transport bounds how long this waits: who cannot connect closes it.
  void transport.closed.then(closePort);
  const { port } = server.address() as AddressInfo;
  return `ws://127.0.0.1:${port}${path}`;
}

function join(socket: WebSocket, transport: CdpTransport): void {
  transport.onmessage = (message) => socket.send(JSON.stringify(message));
  transport.onclose = (reason) => socket.close(NORMAL_CLOSURE, (reason ?? '').slice(0, 100));
  socket.on('message', (data) => transport.send(JSON.parse(String(data))));
  socket.on('close', () => transport.close());
  // A socket that fails closes too.
  socket.on('error', () => undefined);
}
