import { timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import * as z from 'zod';
import { LeaseError } from '../../errors.ts';
import type { RunRecord } from '../../record/run-record.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { testUsage } from '../../record/test-usage.ts';
import type { ServiceClient } from '../../service/index.ts';
import type { LeaseRegistry } from '../leasing/lease-registry.ts';
import type { Projects } from '../leasing/projects.ts';
import type { Terminal } from '../process/terminal.ts';
import { LineSocket, PROTOCOL_VERSION } from './line-socket.ts';
import { type Answer, METHODS, type Method } from './protocol.ts';
import {
  giveBackParams,
  helloParams,
  leaseParams,
  prefetchParams,
  request,
  sayParams,
  sessionParams,
} from './requests.ts';
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
/** Characters of the longest request: what a test used is one. */
const LONGEST_REQUEST = 16 * 1024 ** 2;

/** Listens on `address` (a socket path, or a named pipe on Windows). */
export async function listen(address: string, handlers: BrokerHandlers): Promise<Server> {
  const slots = new Set<number>();
  const server = createServer((socket) => serve(socket, handlers, slots));
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

/** One connection: its socket is the claim on every browser it was lent. @param slots those that are taken */
function serve(socket: Socket, handlers: BrokerHandlers, slots: Set<number>): void {
  const { registry, projects, terminal } = handlers;
  const holder = {};
  const gone = new AbortController();
  let role: 'worker' | 'control' | null = null;
  let unwatch: (() => void) | null = null;
  let slot: number | null = null;

  const helloTimer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
  socket.on('error', () => undefined); // 'close' follows and does the work
  socket.on('close', () => {
    clearTimeout(helloTimer);
    gone.abort();
    if (slot !== null) slots.delete(slot);
    registry.holderGone(holder);
    unwatch?.();
  });

  const on = answering(socket, handlers.secrets, () => role);
  on(METHODS.hello, helloParams, null, (params) => {
    if (!sameToken(params.token, handlers.token)) {
      socket.destroy();
      throw new LeaseError('BROKER_FAILED', 'wrong broker token');
    }
    if (params.version !== PROTOCOL_VERSION) {
      throw new LeaseError(
        'BROKER_FAILED',
        'The runner and its workers load different versions of poolwright: `npm ls poolwright` shows both.',
      );
    }
    clearTimeout(helloTimer);
    role = params.role;
    if (params.ownProject) projects.register(holder, params.ownProject);
    if (params.role === 'worker') slot ??= take(slots);
    return { slot };
  });
  on(METHODS.lease, leaseParams, 'worker', (params) => registry.lease(params, holder, gone.signal));
  on(METHODS.cancelAhead, z.object({}), 'worker', () => registry.cancelAhead(holder));
  on(METHODS.giveBack, giveBackParams, 'worker', (params) => registry.giveBack(params, holder));
  on(METHODS.testUsage, testUsage, 'worker', (params) => handlers.recorder.testUsed(params));
  on(METHODS.sessionReport, sessionParams, 'worker', async ({ sessionId }) => {
    const session = await handlers.client.getSession(sessionId);
    const { status, stoppedAt, bandwidthBytes } = session;
    return { status, stoppedAt: stoppedAt ?? null, bandwidthBytes: bandwidthBytes ?? null };
  });
  on(METHODS.say, sayParams, 'worker', ({ text }) => handlers.say(text));
  on(METHODS.prefetch, prefetchParams, 'control', (params) => registry.prefetch(params));
  on(METHODS.watch, z.object({}), 'control', () => {
    unwatch ??= terminal.watch();
    return { ...registry.state(), said: terminal.take() };
  });
  on(METHODS.finish, z.object({}), 'control', () => handlers.finish());
  on(METHODS.recorded, z.object({}), 'control', () => handlers.recorded());
}

/** The lowest free slot: where a runner does not number its processes, they are told apart by it. */
function take(slots: Set<number>): number {
  let slot = 0;
  while (slots.has(slot)) slot += 1;
  slots.add(slot);
  return slot;
}

interface Handler {
  schema: z.ZodType;
  needs: 'worker' | 'control' | null;
  handle(params: unknown): unknown;
}

/** Registers handlers; from then on requests are parsed, the role is checked, and errors are answered without secrets. */
function answering(socket: Socket, secrets: readonly string[], role: () => string | null) {
  const handlers = new Map<string, Handler>();
  const answerTo = async ({ id, method, params }: z.output<typeof request>): Promise<Answer> => {
    try {
      const handler = handlers.get(method);
      if (!handler) throw new LeaseError('BROKER_FAILED', `"${method}" is no request`);
      const { schema, needs, handle } = handler;
      if (needs && role() !== needs) throw new LeaseError('BROKER_FAILED', `"${method}" is for a ${needs} only`);
      return { id, result: (await handle(schema.parse(params))) ?? null };
    } catch (error) {
      return { id, error: toWire(error, secrets) };
    }
  };
  const receive = async (message: object) => {
    const asked = request.safeParse(message);
    if (!asked.success) return socket.destroy();
    // Who does not read its answers may not ask for more of them.
    if (!lines.send(await answerTo(asked.data))) socket.pause();
  };
  const lines = new LineSocket(socket, { onMessage: (message) => void receive(message), maxLength: LONGEST_REQUEST });
  socket.on('drain', () => socket.resume());
  return <S extends z.ZodType>(
    method: Method,
    schema: S,
    needs: Handler['needs'],
    handle: (params: z.output<S>) => unknown,
  ) => {
    handlers.set(method, { schema, needs, handle: handle as Handler['handle'] });
  };
}

function sameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
