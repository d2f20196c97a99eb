import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems assign automatically, so that no socket of another test gets it. */
const FIRST = 20_000;
const COUNT = 10_000;
const TRIES = 20;

/** Returns a free port, for a server that needs a given one. */
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
