import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer } from 'ws';

/** Size of every large response, in bytes. */
export const BIG_BYTES = 400_000;

// The icon keeps the browser from requesting one.
const HEAD = '<!doctype html><link rel="icon" href="data:,"><title>big</title>';

/**
 * A site that counts the bytes of each name, the first part of an address: `/<name>/big`, `cacheable`, `worker.js`
 * (which fetches `big`), and a WebSocket that echoes.
 */
export async function startCountingSite() {
  const connections = new Map<string, { socket: Socket; isWebSocket: boolean }[]>();
  const count = (url: string | undefined, socket: Socket, isWebSocket = false) => {
    const name = url?.split('/')[1] ?? '';
    connections.set(name, [...(connections.get(name) ?? []), { socket, isWebSocket }]);
  };
  const sumOf = (name: string, bytes: (socket: Socket, isWebSocket: boolean) => number) =>
    (connections.get(name) ?? []).reduce((sum, { socket, isWebSocket }) => sum + bytes(socket, isWebSocket), 0);
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 10 * BIG_BYTES });
  const server = createServer((request, response) => {
    count(request.url, request.socket);
    response.setHeader('connection', 'close'); // so that a connection carries the bytes of one response only
    const file = request.url?.split('/')[2];
    if (file === 'worker.js') {
      response.setHeader('content-type', 'text/javascript');
      return response.end('fetch("big").then((r) => r.text()).then(() => postMessage("done"))');
    }
    response.setHeader('content-type', 'text/html');
    response.setHeader('cache-control', file === 'cacheable' ? 'max-age=600' : 'no-store');
    return response.end(HEAD.padEnd(BIG_BYTES, 'x'));
  });
  server.on('upgrade', (request, socket: Socket, head) => {
    count(request.url, socket, true);
    sockets.handleUpgrade(request, socket, head, (link) => {
      link.on('message', (data, binary) => link.send(data, { binary }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Returns the bytes that a browser reports for a name: what it received, and WebSocket frames that it sent. */
    moved: (name: string) =>
      sumOf(name, ({ bytesWritten, bytesRead }, isWebSocket) => bytesWritten + (isWebSocket ? bytesRead : 0)),
    /** Returns all bytes on the connections for a name, as the client's. */
    traffic: (name: string) => ({
      sent: sumOf(name, ({ bytesRead }) => bytesRead),
      received: sumOf(name, ({ bytesWritten }) => bytesWritten),
    }),
    close: () =>
      new Promise<void>((resolve) => {
        sockets.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
