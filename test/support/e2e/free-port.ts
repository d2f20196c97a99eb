import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems hand out by themselves, so that none of the many sockets of other tests gets it. */
const FIRST = 20_000;
const COUNT = 10_000;
const TRIES = 20;

/** A port that nothing listens on, for a server that must be told one. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`no free port from ${FIRST} to ${FIRST + COUNT - 1} in ${TRIES} tries`);
}
