import type { WebSocket } from 'ws';
import { openLocalEndpoint } from './local-endpoint.ts';
import type { CdpTransport } from './transport.ts';

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
