import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { EmulatorError } from '../../errors.ts';
import { HOST_REFUSED, type HostCheck } from '../host-check.ts';
import type { ApiApp } from '../http.ts';
import type { CdpRelay } from './cdp-relay.ts';

/** Longer than clients keep idle connections, so that none is closed under a request on its way. */
const KEEP_ALIVE_MS = 60_000;

export interface ListeningServer {
  port: number;
  close(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  isKnownHost: HostCheck;
}

/**
 * How many connections the system completes while this process is busy. It drops those beyond, and their clients try
 * again only after seconds. Node's default is 511.
 */
const BACKLOG = 4_096;

/** The API's and the relay's socket. */
export async function listen(app: ApiApp, relay: CdpRelay, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, isKnownHost } = options;
  const server = createAdaptorServer({
    // Before everything else, so that a page from elsewhere learns nothing, not even what is wrong with its key.
    fetch: (request, env) =>
      isKnownHost(request.headers.get('host') ?? undefined)
        ? app.fetch(request, env)
        : Response.json({ error: HOST_REFUSED }, { status: 403 }),
    hostname: host,
  }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('upgrade', (request, socket, head) => relay.handleUpgrade(request, socket, head));
  server.listen(port, host, BACKLOG);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, options);
  }
  return { port: (server.address() as AddressInfo).port, close: () => close(server, relay) };
}

async function close(server: Server, relay: CdpRelay): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  relay.closeAll();
  await closed;
}

function listenError(cause: NodeJS.ErrnoException, { host, port }: ListenOptions): EmulatorError {
  if (cause.code === 'EADDRINUSE') {
    const message = `Port ${port} on ${host} is in use. Stop the process that holds it, or take another port (0 takes any free one).`;
    return new EmulatorError('EMULATOR_PORT_IN_USE', message, { cause });
  }
  const message = `The emulator cannot listen on port ${port} of ${host}: ${cause.message}`;
  return new EmulatorError('EMULATOR_START_FAILED', message, { cause });
}
