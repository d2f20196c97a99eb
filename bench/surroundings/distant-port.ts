import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** Another port of this machine, as if it were further away. */
export interface DistantPort {
  port: number;
  close(): void;
}

/** Opens a port that leads to another one. @param rtt round-trip time that it adds, in ms */
export async function openDistantPort(to: number, rtt: number): Promise<DistantPort> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(delayed(rtt / 2)).pipe(far);
    far.pipe(delayed(rtt / 2)).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Passes on each chunk after a time. Chunks overtake each other neither here nor in timers of equal length. */
function delayed(ms: number): Transform {
  const pending = { chunks: 0, end: () => {} };
  return new Transform({
    transform(chunk, _encoding, done) {
      pending.chunks += 1;
      setTimeout(() => {
        this.push(chunk);
        pending.chunks -= 1;
        if (pending.chunks === 0) pending.end();
      }, ms);
      done();
    },
    flush(done) {
      pending.end = done;
      if (pending.chunks === 0) done();
    },
  });
}
