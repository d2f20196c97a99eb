import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** The secret part of a test's CDP address. */
export const TOKEN = 't0ken-5ecret';

/** A WebSocket server at a browser's CDP address that acts as the test tells it to. */
export class CdpServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      // Node's HTTP server would keep its half of an upgraded connection open.
      socket.on('end', () => socket.end());
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** @param serve called with every opened connection */
  static async start(serve: (link: WebSocket, socket: Socket) => void = () => undefined): Promise<CdpServer> {
    const sockets = new WebSocketServer({ noServer: true, maxPayload: 512 * 1024 * 1024 });
    return await CdpServer.withUpgrade((request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (link) => serve(link, socket));
    });
  }

  /** @param upgrade handles the handshake */
  static async withUpgrade(
    upgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void,
  ): Promise<CdpServer> {
    const server = createServer();
    server.on('upgrade', (request, socket, head) => upgrade(request, socket as Socket, head));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CdpServer(server);
  }

  /** `host:port` */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get cdpUrl(): string {
    return `ws://${this.host}/cdp/${TOKEN}?key=${TOKEN}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
