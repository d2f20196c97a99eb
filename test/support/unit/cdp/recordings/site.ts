import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

const ROUTES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/': (response) =>
    response.end(
      '<!doctype html><link rel=icon href=data:,><title>site</title><input type=file><a href=/next>next</a>',
    ),
  '/next': (response) => response.end('<!doctype html><link rel=icon href=data:,><title>next</title>'),
  // Without unload handlers, so that the back/forward cache can keep it.
  '/kept': (response) =>
    response
      .setHeader('permissions-policy', 'unload=()')
      .end('<!doctype html><link rel=icon href=data:,><title>kept</title>'),
  '/big': (response) => response.end(Buffer.alloc(50_000, 'x')),
  '/redirect': (response) => response.writeHead(302, { location: '/big', 'x-long': 'y'.repeat(100) }).end(),
  '/cached': (response) => response.setHeader('cache-control', 'max-age=600').end(Buffer.alloc(20_000, 'x')),
  '/file': (response) =>
    response.setHeader('content-disposition', 'attachment; filename=file').end(Buffer.alloc(60, 'x')),
};

/** The site of the recordings: its responses are always the same, and it counts its bytes. */
export class Site {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((request, response) => {
      response.sendDate = false;
      response.setHeader('content-type', 'text/html');
      if (request.url === '/secret' && !request.headers.authorization) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="site"' }).end('who?');
        return;
      }
      const answer = ROUTES[request.url ?? ''];
      if (answer) answer(response);
      else response.end(`${request.method} ${request.url}`);
    });
    this.#server.on('connection', (socket) => this.#sockets.add(socket));
  }

  /** Returns its `host:port`. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Bytes on the wire. */
  sent(): number {
    return [...this.#sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
