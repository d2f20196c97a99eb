import { timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import * as z from 'zod';
import { type Clock, systemClock } from '../../common/clock.ts';
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
  pingParams,
  prefetchParams,
  remainingParams,
  request,
  sayParams,
  sessionParams,
} from './requests.ts';
import { watchSilence } from './silence.ts';
import { toWire } from './wire-error.ts';

/** Whom the server lets in, and what it answers with. */
export interface ServerOptions {
  token: string;
  projects: Pick<Projects, 'register'>;
  terminal: Terminal;
  /**
   * Resolves when the run may begin: until then everything but `hello` and `ping` waits. Rejects where it may not: who
   * asked for a browser waits on, until its runner ends it, and all other requests are answered with that.
   */
  begun: Promise<BrokerHandlers>;
}

/** What the server answers with. */
export interface BrokerHandlers {
  registry: LeaseRegistry;
  recorder: Pick<RunRecorder, 'testUsed'>;
  client: ServiceClient;
  secrets: readonly string[];
  /** Tells the terminal, once. */
  say(text: string): void;
  /** Ends the run: everything given back. */
  finish(): Promise<RunRecord>;
  /** The run has written its record itself. */
  recorded(): void;
  /** A process has been silent for longer than it may be. A worker's connection is closed by then. */
  hangs(who: 'worker' | 'control', silentMs: number): void;
}

/** A connection that does not say hello in this time is closed, in ms. */
const HELLO_TIMEOUT_MS = 10_000;
/** Bound on what the service says of a session, in ms: a test's end waits for it, and is not worth more. */
const REPORT_TIMEOUT_MS = 5_000;
/** Characters of the longest request: what a test used is one. */
const LONGEST_REQUEST = 16 * 1024 ** 2;

/** Listens on `address` (a socket path, or a named pipe on Windows). */
export async function listen(address: string, options: ServerOptions, clock: Clock = systemClock): Promise<Server> {
  const slots = new Set<number>();
  const server = createServer((socket) => serve(socket, options, slots, clock));
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
function serve(socket: Socket, options: ServerOptions, slots: Set<number>, clock: Clock): void {
  const { token, projects, terminal, begun } = options;
  const holder = {};
  const gone = new AbortController();
  let role: 'worker' | 'control' | null = null;
  let unwatch: (() => void) | null = null;
  let slot: number | null = null;
  let tells = false;
  let maySilentMs: number | null = null;

  const helloTimer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
  socket.on('error', () => undefined); // 'close' follows and does the work
  socket.on('close', () => {
    clearTimeout(helloTimer);
    gone.abort();
    if (slot !== null) slots.delete(slot);
    unwatch?.();
    // After what it asked for before the run began.
    begun.then(({ registry }) => {
      registry.holderGone(holder);
      if (tells) registry.remaining(null);
    }, ignored);
  });
  const onSilent = (silentMs: number) => {
    if (role === 'worker') socket.destroy();
    const who = role;
    if (who) begun.then(({ hangs }) => hangs(who, silentMs), ignored);
  };
  watchSilence(socket, () => maySilentMs, onSilent, clock);

  const on = answering(socket, begun, () => role);
  on(METHODS.hello, helloParams, null, (params) => {
    if (!sameToken(params.token, token)) {
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
  on(METHODS.ping, pingParams, null, ({ silentMs }) => {
    maySilentMs = silentMs;
  });
  // Where the run may not begin, its runner ends it, and with it whoever waits for a browser: one word for the user.
  const lends = begun.catch(() => new Promise<never>(() => undefined));
  on(METHODS.lease, leaseParams, 'worker', async (params) => (await lends).registry.lease(params, holder, gone.signal));
  on(METHODS.cancelAhead, z.object({}), 'worker', async () => (await begun).registry.cancelAhead(holder));
  on(METHODS.giveBack, giveBackParams, 'worker', async (params) => (await begun).registry.giveBack(params, holder));
  on(METHODS.testUsage, testUsage, 'worker', async (params) => (await begun).recorder.testUsed(params));
  on(METHODS.sessionReport, sessionParams, 'worker', async ({ sessionId }) => {
    const { client } = await begun;
    const session = await client.getSession(sessionId, { timeout: REPORT_TIMEOUT_MS, retry: 'none' });
    const { status, stoppedAt, bandwidthBytes } = session;
    return { status, stoppedAt: stoppedAt ?? null, bandwidthBytes: bandwidthBytes ?? null };
  });
  on(METHODS.say, sayParams, 'worker', async ({ text }) => (await begun).say(text));
  on(METHODS.prefetch, prefetchParams, 'control', async (params) => (await begun).registry.prefetch(params));
  on(METHODS.remaining, remainingParams, 'control', async ({ projects }) => {
    const { registry } = await begun;
    tells = true;
    registry.remaining(projects);
  });
  on(METHODS.watch, z.object({}), 'control', async () => {
    unwatch ??= terminal.watch();
    const { registry } = await begun;
    return { ...registry.state(), said: terminal.take() };
  });
  on(METHODS.finish, z.object({}), 'control', async () => (await begun).finish());
  on(METHODS.recorded, z.object({}), 'control', async () => (await begun).recorded());
}

/** The lowest free slot: where a runner does not number its processes, they are told apart by it. */
function take(slots: Set<number>): number {
  let slot = 0;
  while (slots.has(slot)) slot += 1;
  slots.add(slot);
  return slot;
}

const ignored = () => undefined;

interface Handler {
  schema: z.ZodType;
  needs: 'worker' | 'control' | null;
  handle(params: unknown): unknown;
}

/** Registers handlers; from then on requests are parsed, the role is checked, and errors are answered without secrets. */
function answering(socket: Socket, begun: Promise<BrokerHandlers>, role: () => string | null) {
  let secrets: readonly string[] = []; // nothing of the service's is answered before
  begun.then((run) => {
    secrets = run.secrets;
  }, ignored);
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
