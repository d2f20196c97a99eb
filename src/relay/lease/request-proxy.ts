import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The channel on which Node publishes each socket that this process connects. */
const CLIENTS = 'net.client.socket';

const HOST = '127.0.0.1';

/** A proxy for requests that Playwright makes itself: `page.request`, `route.fetch`. */
export interface RequestProxy {
  /** Its address. */
  server: string;
  close(): void;
}

/**
 * Opens a proxy that makes connections on another machine. It serves only this process: others that connect to its port
 * are refused.
 */
export async function openRequestProxy(dial: (host: string, port: number) => Duplex): Promise<RequestProxy> {
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const to = destinationOf(request.url ?? '');
    // Another address of loopback can have the same port.
    const isOwn = socket.remoteAddress === HOST && own.has(socket.remotePort ?? 0);
    if (to === null || !isOwn) {
      socket.destroy();
      return;
    }
    const stream = dial(to.host, to.port);
    // At once, without a round trip. A server that refuses resets the connection.
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    stream.write(head);
    socket.on('error', () => socket.destroy());
    stream.once('error', () => socket.destroy());
    stream.once('close', () => socket.destroy());
    socket.once('close', () => stream.destroy());
    socket.pipe(stream).pipe(socket);
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const own = new Set<number>();
  const onClient = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    let local = 0;
    socket.once('connect', () => {
      if (socket.remotePort !== port) return;
      local = socket.localPort ?? 0;
      own.add(local);
    });
    socket.once('close', () => own.delete(local));
  };
  subscribe(CLIENTS, onClient);
  return {
    server: `http://${HOST}:${port}`,
    close: () => {
      unsubscribe(CLIENTS, onClient);
      server.close();
      server.closeAllConnections();
    },
  };
}

function destinationOf(authority: string): { host: string; port: number } | null {
  const [, name = '', port] = /^(.+):(\d+)$/.exec(authority) ?? [];
  return port === undefined ? null : { host: name.replace(/^\[|\]$/g, ''), port: Number(port) };
}
