import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** A connection to a browser with a slow uplink, like that of an office or a home. */
export interface SlowLink {
  /** The address to use instead of the browser's own. */
  cdpUrl: string;
  close(): Promise<void>;
}

/** How often it forwards data, in ms. */
const TURN_MS = 20;

/** @param bitsPerSecond towards the browser; data from the browser is not delayed */
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

/** Forwards data at the speed of the link, counted from when the link was last idle. */
async function* slowly(source: Socket, bytesPerSecond: number): AsyncGenerator<Buffer> {
  let free = performance.now();
  for await (const chunk of source) {
    free = Math.max(free, performance.now()) + ((chunk as Buffer).length / bytesPerSecond) * 1000;
    const wait = free - performance.now();
    if (wait > TURN_MS) await delay(wait);
    yield chunk as Buffer;
  }
}
