import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const PAGE_BYTES = 300_000;
export const PART_BYTES = 100_000;

/** Pages on this machine's loopback. `/stream` sends a part and never ends. */
export class Site {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Site> {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      // Without this icon the browser would request /favicon.ico.
      const head = '<!doctype html><link rel="icon" href="data:,"><title>site</title>';
      if (request.url === '/big') response.end(head.padEnd(PAGE_BYTES, 'x'));
      else if (request.url === '/stream') response.write(head.padEnd(PART_BYTES, 'x'));
      else response.end(`${head}<p>hello</p>`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Site(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
