import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** The way to a browser over a connection whose uplink is slow, as an office's or a home's is. */
export interface SlowLink {
  /** The address to use in the place of the one that it leads to. */
  cdpUrl: string;
  close(): Promise<void>;
}

/** How often it passes something on, in ms. */
const TURN_MS = 20;

/** @param bitsPerSecond of what goes to the browser; what comes from it is not held up */
export async function startSlowLink(cdpUrl: string, bitsPerSecond: number): Promise<SlowLink> {
  const target = new URL(cdpUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const browser = connect(Number(target.port), target.hostname);
    for (const socket of [client, browser]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        client.destroy();
        browser.destroy();
      });
    }
    browser.pipe(client);
    pipeline(Readable.from(slowly(client, bitsPerSecond / 8)), browser, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(cdpUrl);
  through.port = String((server.address() as AddressInfo).port);
  return {
    cdpUrl: through.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What has come may go on as fast as the link is, counted from when it was idle last. */
async function* slowly(source: Socket, bytesPerSecond: number): AsyncGenerator<Buffer> {
  let free = performance.now();
  for await (const chunk of source) {
    free = Math.max(free, performance.now()) + ((chunk as Buffer).length / bytesPerSecond) * 1000;
    const wait = free - performance.now();
    if (wait > TURN_MS) await delay(wait);
    yield chunk as Buffer;
  }
}
