import { constants } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CdpTransport } from './transport.ts';

/** WebSocket close code of a normal closure. */
const NORMAL_CLOSURE = 1000;

/**
 * Makes a transport available at a local address, for a Playwright that accepts only addresses:
 * `ws://127.0.0.1:<port>/<secret>`. It accepts one connection; the port closes as soon as that is open, or when the
 * transport closes. The tunnel owns the transport and closes it together with its connection.
 */
export async function openTunnel(transport: CdpTransport): Promise<string> {
  const path = `/${randomUUID()}`;
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    path,
    perMessageDeflate: false,
    // The same limit as our own connection.
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
  // This wait ends with the transport: the caller closes it when connecting fails.
  void transport.closed.then(closePort);
  const { port } = server.address() as AddressInfo;
  return `ws://127.0.0.1:${port}${path}`;
}

function join(socket: WebSocket, transport: CdpTransport): void {
  transport.onmessage = (message) => socket.send(JSON.stringify(message));
  transport.onclose = (reason) => socket.close(NORMAL_CLOSURE, (reason ?? '').slice(0, 100));
  socket.on('message', (data) => transport.send(JSON.parse(String(data))));
  socket.on('close', () => transport.close());
  // A failing socket closes, too.
  socket.on('error', () => undefined);
}
