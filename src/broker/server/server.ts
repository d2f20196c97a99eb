import { timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { type Clock, systemClock } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import type { BrowserProvider } from '../../providers/port.ts';
import { type RunRecord, testUsage } from '../../record/run-record.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { redactText } from '../../redact.ts';
import type { BrokerFeature } from '../feature.ts';
import type { Terminal } from '../log/terminal.ts';
import type { CallTable, ErasedHandlers, Handlers, Role } from '../rpc/call-table.ts';
import { LineSocket, PROTOCOL_VERSION } from '../rpc/line-socket.ts';
import { CONNECTION_CALLS, type Reply, RUN_CALLS } from '../rpc/messages/protocol.ts';
import { serializeError } from '../rpc/messages/serialized-error.ts';
import { watchSilence } from '../rpc/silence.ts';
import type { LeaseService } from './lease-service.ts';

/** What requests reach of a run that has begun. */
export interface BrokerHandlers {
  leases: LeaseService;
  recorder: Pick<RunRecorder, 'testUsed'>;
  provider: Pick<BrowserProvider, 'report'>;
  secrets: readonly string[];
  /** Prints a line in the terminal, once. */
  say(text: string): void;
  /** Ends the run: gives every browser back and writes the record. */
  finish(): Promise<RunRecord>;
  /** Called when a process has been silent for longer than allowed. A worker's connection is closed by then. */
  hangs(who: 'worker' | 'control', silentMs: number): void;
}

/** Options of the broker's server. */
export interface ServerOptions {
  token: string;
  observerToken: string;
  features: readonly Pick<BrokerFeature, 'calls' | 'connected'>[];
  terminal: Terminal;
  /**
   * Resolves when the run can begin: until then, everything except `hello` and `ping` waits. If it rejects, requests
   * for a browser wait until their runner ends the workers, for five seconds at most, and all other requests fail with
   * its reason.
   */
  begun: Promise<BrokerHandlers>;
}

/** A connection that does not send `hello` within this time is closed, in ms. */
const HELLO_TIMEOUT_MS = 10_000;
/**
 * Deadline for the service's data about a session, in ms: the end of a test waits for it, and should not wait longer.
 */
const REPORT_TIMEOUT_MS = 5_000;
/** How long the runner may take to end the workers of a run that cannot begin, in ms. */
const REFUSED_MS = 5_000;

/** Listens on `address` (a socket path, or a named pipe on Windows). */
export async function listen(address: string, options: ServerOptions, clock: Clock = systemClock): Promise<Server> {
  const slots = new Set<number>();
  const server = createServer((socket) => serve(socket, options, slots, clock));
  // A broker that died at this address left its socket; on Windows a pipe ends with its process.
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

/** Serves one connection: browsers leased over it are given back when it closes. @param slots the occupied slots */
function serve(socket: Socket, options: ServerOptions, slots: Set<number>, clock: Clock): void {
  const { token, observerToken, features, terminal, begun } = options;
  const holder = {};
  const gone = new AbortController();
  let role: Role | null = null;
  let unwatch: (() => void) | null = null;
  let slot: number | null = null;
  let reportsTests = false;
  let maySilentMs: number | null = null;

  const helloTimer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
  socket.on('error', () => undefined); // 'close' follows and does the cleanup
  socket.on('close', () => {
    clearTimeout(helloTimer);
    gone.abort();
    if (slot !== null) slots.delete(slot);
    unwatch?.();
    // Runs after the requests that this connection sent before the run began.
    begun.then(({ leases }) => {
      leases.holderGone(holder);
      if (reportsTests) leases.remaining(null);
    }, ignored);
  });
  const onSilent = (silentMs: number) => {
    if (role !== 'control') socket.destroy();
    const who = role;
    if (who && who !== 'observer') begun.then(({ hangs }) => hangs(who, silentMs), ignored);
  };
  watchSilence(socket, () => maySilentMs, onSilent, clock);

  // If the run cannot begin, the runner ends it with all waiting workers, and the user sees a single error.
  const leasing = begun.catch(async (error: unknown) => {
    await delay(REFUSED_MS);
    throw error;
  });
  leasing.catch(ignored);
  const handlers: Handlers<typeof CONNECTION_CALLS & typeof RUN_CALLS> = {
    hello: (params) => {
      if (!sameToken(params.token, params.role === 'observer' ? observerToken : token)) {
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
      const { ownProject } = params;
      if (ownProject) begun.then(({ leases }) => leases.register(holder, ownProject), ignored);
      if (params.role === 'worker') slot ??= take(slots);
      return { slot };
    },
    ping: ({ silentMs }) => {
      maySilentMs = silentMs;
    },
    lease: async (params) => (await leasing).leases.lease(params, holder, gone.signal),
    cancelPrefetch: async () => (await begun).leases.cancelPrefetch(holder),
    giveBack: async (params) => (await begun).leases.giveBack(params, holder),
    isWanted: async (params) => (await begun).leases.isWanted(params, holder),
    testUsage: async (params) => (await begun).recorder.testUsed(testUsage.parse(params)),
    sessionReport: async ({ sessionId }) => {
      const { provider } = await begun;
      return await provider.report(sessionId, REPORT_TIMEOUT_MS);
    },
    redact: async (params) => {
      const { secrets } = await begun;
      return params.texts.map((text) => redactText(text, [...secrets, ...params.secrets]));
    },
    say: async ({ text }) => (await begun).say(text),
    prefetch: async (params) => (await begun).leases.prefetch(params),
    remaining: async (params) => {
      const { leases } = await begun;
      reportsTests = true;
      leases.remaining(params.projects);
    },
    state: async () => {
      unwatch ??= terminal.watch();
      const { leases } = await begun;
      return { ...leases.state(), said: terminal.take() };
    },
    finish: async () => (await begun).finish(),
  };
  handleRequests(socket, {
    served: [
      { calls: { ...CONNECTION_CALLS, ...RUN_CALLS }, handlers },
      ...features.map((feature) => ({ calls: feature.calls, handlers: feature.connected(gone.signal) })),
    ],
    role: () => role,
    begun,
  });
}

/** Returns the lowest free slot: it identifies processes whose runner does not number them. */
function take(slots: Set<number>): number {
  let slot = 0;
  while (slots.has(slot)) slot += 1;
  slots.add(slot);
  return slot;
}

const ignored = () => undefined;

function sameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Length limit of a request, in characters: it may contain everything that a test used, or a picture. */
const LONGEST_REQUEST = 16 * 1024 ** 2;

const request = v.object({
  id: v.pipe(v.number(), v.safeInteger()),
  method: v.string(),
  params: v.optional(v.unknown()),
});

/** One side of a socket that handles requests. */
interface Side {
  /** The requests that it may send, with their handlers. */
  served: readonly { calls: CallTable; handlers: ErasedHandlers }[];
  /** Null: it has not sent `hello`. */
  role(): Role | null;
  /** The run; no data of the service is sent before. */
  begun: Promise<{ secrets: readonly string[] }>;
}

/** Handles requests: they are parsed and checked for the role, and error responses contain no secrets. */
function handleRequests(socket: Socket, { served, role, begun }: Side): void {
  let secrets: readonly string[] = [];
  begun.then(
    (run) => {
      secrets = run.secrets;
    },
    () => undefined,
  );
  const respondTo = async ({ id, method, params }: v.InferOutput<typeof request>): Promise<Reply> => {
    try {
      const known = served.find(({ calls }) => Object.hasOwn(calls, method));
      const spec = known?.calls[method];
      if (!spec) throw new LeaseError('BROKER_FAILED', `"${method}" is not a request`);
      const sender = role();
      if (spec.roles && (sender === null || !spec.roles.includes(sender))) {
        throw new LeaseError('BROKER_FAILED', `"${method}" is for a ${spec.roles.join(' or a ')} only`);
      }
      return { id, result: (await known.handlers[method]?.(v.parse(spec.params, params) as never)) ?? null };
    } catch (error) {
      return { id, error: serializeError(error, secrets) };
    }
  };
  const receive = async (message: object) => {
    const asked = v.safeParse(request, message);
    if (!asked.success) return socket.destroy();
    // A client that does not read its responses may not send more requests.
    if (!lines.send(await respondTo(asked.output))) socket.pause();
  };
  const lines = new LineSocket(socket, { onMessage: (message) => void receive(message), maxLength: LONGEST_REQUEST });
  socket.on('drain', () => socket.resume());
}
