import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { DevToolsAddress } from '../browser/browser-process.ts';
import type { StubBrowser } from './stub-browser.ts';

/** As large as Chromium takes. */
const MAX_MESSAGE_BYTES = 256 * 1024 ** 2;

/** The one port on loopback where all stub browsers listen for clients, each at a path of its own. */
export class StubDevTools {
  readonly #server: Server = createServer((_request, response) => response.writeHead(404).end());
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  readonly #browsers = new Map<string, StubBrowser>();

  static async start(): Promise<StubDevTools> {
    const devtools = new StubDevTools();
    const server = devtools.#server;
    server.on('upgrade', (request, socket, head) => void devtools.#upgrade(request, socket, head));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return devtools;
  }

  add(browser: StubBrowser): DevToolsAddress {
    const path = `/devtools/browser/${randomBytes(16).toString('hex')}`;
    this.#browsers.set(path, browser);
    void browser.exited.then(() => this.#browsers.delete(path));
    return { port: (this.#server.address() as AddressInfo).port, path };
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const browser = this.#browsers.get(request.url ?? '');
    // A process that stands still accepts connections and answers no handshake.
    await browser?.running;
    if (!browser || browser.hasEnded) socket.destroy();
    else this.#sockets.handleUpgrade(request, socket, head, (client) => browser.connect(client));
  }
}
