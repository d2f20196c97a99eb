import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import * as v from 'valibot';
import { type WebSocket, WebSocketServer } from 'ws';
import { RELAY_PATH } from '../protocol.ts';
import { Lease } from './lease.ts';
import { LISTENS, leaseConfig, leaseSocket } from './lease-config.ts';
import { loadPlaywright, MAX_MESSAGE } from './served-browser.ts';

/**
 * The process of one lease. Playwright's protocol can write files and run code of a page's choice, so that this process
 * has no rights, no secret of the relay, and a separate directory. It serves one worker, and ends with the worker,
 * with the browser, and with the relay.
 */
process.title = 'poolwright relay: lease';

/** Time limit for the worker to connect, in ms. */
const WORKER_TIMEOUT_MS = 30_000;

async function main(): Promise<void> {
  const [given] = await once(process, 'message');
  const config = v.parse(leaseConfig, given);
  process.once('exit', () => rmSync(config.directory, { recursive: true, force: true }));
  // The relay has died: without it, the worker's connection is cut as well.
  process.once('disconnect', () => process.exit());
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    path: RELAY_PATH,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: { clientNoContextTakeover: true, serverNoContextTakeover: true, threshold: 10 * 1024 },
  });
  const connected: Promise<[WebSocket, { headers: Record<string, string | undefined> }]> = once(sockets, 'connection', {
    signal: AbortSignal.timeout(WORKER_TIMEOUT_MS),
  }) as never;
  server.listen(leaseSocket(config.directory));
  await once(server, 'listening');
  process.send?.(LISTENS);
  // After the message has left: loading blocks this process.
  const loading = setImmediate().then(() => loadPlaywright(config.playwright));
  loading.catch(() => undefined);
  const [worker, { headers }] = await connected;
  server.close();
  await new Lease(config, worker, headers['user-agent'] ?? '').run(loading);
}

main().then(
  () => process.exit(),
  () => process.exit(1),
);
