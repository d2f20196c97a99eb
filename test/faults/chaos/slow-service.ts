import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** A slow connection to a service, for API and CDP: a `cdpUrl` has the host of the request. */
export interface SlowWay {
  /** Replaces the service's own address. */
  baseURL: string;
  close(): Promise<void>;
}

/** How often it forwards data, in ms. */
const TURN_MS = 20;

/** @param megabits per second and direction, for all connections together */
export async function slowWayTo(service: string, megabits: number): Promise<SlowWay> {
  const { hostname, port } = new URL(service);
  const sockets = new Set<Socket>();
  const [up, down] = [new Line(megabits), new Line(megabits)];
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    pipeline(Readable.from(up.carry(client)), target, () => undefined);
    pipeline(Readable.from(down.carry(target)), client, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** One direction of the connection. */
class Line {
  private readonly bytesPerMs: number;
  private free = 0;

  constructor(megabits: number) {
    this.bytesPerMs = (megabits * 1e6) / 8 / 1000;
  }

  async *carry(source: Socket): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      const { length } = chunk as Buffer;
      this.free = Math.max(this.free, performance.now()) + length / this.bytesPerMs;
      const wait = this.free - performance.now();
      if (wait > TURN_MS) await delay(wait);
      yield chunk as Buffer;
    }
  }
}
