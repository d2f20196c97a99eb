import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** What a test's CDP address holds that nobody may see. */
export const TOKEN = 't0ken-5ecret';

/** A WebSocket server that stands where a browser's CDP address is, and does what a test tells it to. */
export class CdpServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      // Node's HTTP server would keep its own half of an upgraded connection open.
      socket.on('end', () => socket.end());
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** @param serve gets every link that is opened, once it is */
  static async start(serve: (link: WebSocket, socket: Socket) => void = () => undefined): Promise<CdpServer> {
    const sockets = new WebSocketServer({ noServer: true, maxPayload: 512 * 1024 * 1024 });
    return await CdpServer.withUpgrade((request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (link) => serve(link, socket));
    });
  }

  /** @param upgrade does with a handshake what it wants */
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

  /** How many connections are open. */
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
