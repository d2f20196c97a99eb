import { timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import {
  createMessageConnection,
  type MessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
} from 'vscode-jsonrpc/node';
import * as z from 'zod';
import { LeaseError } from '../../errors.ts';
import type { RunRecord } from '../../record/run-record.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { testUsage } from '../../record/test-usage.ts';
import type { ServiceClient } from '../../service/index.ts';
import type { LeaseRegistry } from '../leasing/lease-registry.ts';
import type { Projects } from '../leasing/projects.ts';
import type { Terminal } from '../process/terminal.ts';
import { METHODS, type Method } from './protocol.ts';
import { giveBackParams, helloParams, leaseParams, prefetchParams, sayParams, sessionParams } from './requests.ts';
import { toWire } from './wire-error.ts';

/** What the server answers with. */
export interface BrokerHandlers {
  registry: LeaseRegistry;
  projects: Projects;
  recorder: Pick<RunRecorder, 'testUsed'>;
  client: ServiceClient;
  token: string;
  secrets: readonly string[];
  terminal: Terminal;
  /** Tells the terminal, once. */
  say(text: string): void;
  /** Ends the run: everything given back. */
  finish(): Promise<RunRecord>;
  /** The run has written its record itself. */
  recorded(): void;
}

/** A connection that does not say hello in this time is closed, in ms. */
const HELLO_TIMEOUT_MS = 10_000;

/** Listens on `address` (a socket path, or a named pipe on Windows). */
export async function listen(address: string, handlers: BrokerHandlers): Promise<Server> {
  const server = createServer((socket) => serve(socket, handlers));
  // A broker that died at this address left its socket; on Windows a pipe goes with its process.
  if (process.platform !== 'win32') await rm(address, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return server;
}

/** One connection: its socket is the claim on every browser it was lent. */
function serve(socket: Socket, handlers: BrokerHandlers): void {
  const { registry, projects, terminal } = handlers;
  const holder = {};
  const gone = new AbortController();
  const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
  let role: 'worker' | 'control' | null = null;
  let unwatch: (() => void) | null = null;

  const helloTimer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
  socket.on('error', () => undefined); // 'close' follows and does the work
  socket.on('close', () => {
    clearTimeout(helloTimer);
    gone.abort();
    registry.holderGone(holder);
    unwatch?.();
    connection.dispose();
  });

  const on = answering(connection, handlers.secrets, () => role);
  on(METHODS.hello, helloParams, null, (params) => {
    if (!sameToken(params.token, handlers.token)) {
      socket.destroy();
      throw new LeaseError('BROKER_FAILED', 'wrong broker token');
    }
    clearTimeout(helloTimer);
    role = params.role;
    if (params.ownProject) projects.register(holder, params.ownProject);
    return null;
  });
  on(METHODS.lease, leaseParams, 'worker', (params) => registry.lease(params, holder, gone.signal));
  on(METHODS.cancelAhead, z.object({}), 'worker', () => {
    registry.cancelAhead(holder);
    return null;
  });
  on(METHODS.giveBack, giveBackParams, 'worker', async (params) => {
    await registry.giveBack(params, holder);
    return null;
  });
  on(METHODS.testUsage, testUsage, 'worker', (params) => {
    handlers.recorder.testUsed(params);
    return null;
  });
  on(METHODS.sessionReport, sessionParams, 'worker', async ({ sessionId }) => {
    const session = await handlers.client.getSession(sessionId);
    const { status, stoppedAt, bandwidthBytes } = session;
    return { status, stoppedAt: stoppedAt ?? null, bandwidthBytes: bandwidthBytes ?? null };
  });
  on(METHODS.say, sayParams, 'worker', ({ text }) => {
    handlers.say(text);
    return null;
  });
  on(METHODS.prefetch, prefetchParams, 'control', (params) => {
    registry.prefetch(params);
    return null;
  });
  on(METHODS.watch, z.object({}), 'control', () => {
    unwatch ??= terminal.watch();
    return { ...registry.state(), said: terminal.take() };
  });
  on(METHODS.finish, z.object({}), 'control', () => handlers.finish());
  on(METHODS.recorded, z.object({}), 'control', () => {
    handlers.recorded();
    return null;
  });
  connection.listen();
}

/** Registers handlers that parse what comes, check the role and answer errors without secrets. */
function answering(connection: MessageConnection, secrets: readonly string[], role: () => string | null) {
  return <S extends z.ZodType>(
    method: Method,
    schema: S,
    needs: 'worker' | 'control' | null,
    handle: (params: z.output<S>) => unknown,
  ) => {
    connection.onRequest(method, async (params: unknown) => {
      try {
        if (needs && role() !== needs) throw new LeaseError('BROKER_FAILED', `"${method}" is for a ${needs} only`);
        return await handle(schema.parse(params));
      } catch (error) {
        return toWire(error, secrets);
      }
    });
  };
}

function sameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
