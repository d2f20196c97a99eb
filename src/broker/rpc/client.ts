import { connect, type Socket } from 'node:net';
import * as v from 'valibot';
import { clearInterval, setInterval } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import type { TestUsage } from '../../record/test-usage.ts';
import { PROTOCOL_VERSION } from './line-socket.ts';
import {
  type GiveBackParams,
  type HostedProject,
  type IdleParams,
  type LeaseParams,
  METHODS,
  type Method,
  type PrefetchParams,
  type RedactParams,
  type RemainingParams,
} from './messages/protocol.ts';
import { PrefetchCancelled } from './messages/refusals.ts';
import {
  type LeasedBrowser,
  leasedBrowser,
  type RunState,
  redactedTexts,
  runState,
  type SessionReport,
  sessionReport,
  welcome,
} from './messages/responses.ts';
import { brokerLost } from './messages/serialized-error.ts';
import { OpenRequests } from './open-requests.ts';
import { type WatchedBroker, watchOrders } from './orders.ts';
import type { BrokerAddress } from './shared-broker.ts';
import { PING_MS } from './silence.ts';

/** The connection of a worker, or of the run itself, to the broker. A worker keeps its browser while it is open. */
export interface BrokerConnection {
  /** A worker's number: the lowest that no other open connection has. */
  readonly slot: number | null;
  lease(params: LeaseParams): Promise<LeasedBrowser>;
  /**
   * Cancels every pending lease marked `prefetch`: each rejects with LeaseError `ABORTED`. If its browser is already on
   * the way, the browser is given back unused. A lease that has already resolved is the caller's to give back.
   */
  cancelPrefetch(): Promise<void>;
  giveBack(params: GiveBackParams): Promise<void>;
  /** Whether this worker, which runs no test, should give its browser back: others wait, and the service has none. */
  isWanted(params: IdleParams): Promise<boolean>;
  testUsage(params: TestUsage): Promise<void>;
  sessionReport(sessionId: string): Promise<SessionReport>;
  /** Masks secrets of the run in texts. */
  redact(params: RedactParams): Promise<string[]>;
  /** Prints a line in the terminal, once per run. */
  say(text: string): Promise<void>;
  /**
   * Sets how long this process may be silent from now on before it counts as hung and loses its browsers, in ms; null,
   * the default: without limit.
   */
  allowSilence(ms: number | null): void;
  prefetch(params: PrefetchParams): Promise<void>;
  /** Sets the remaining tests. The broker forgets them when this connection closes. */
  remaining(params: RemainingParams): Promise<void>;
  /** Returns the state of the browsers. After the first call, this connection's owner shows the terminal's lines. */
  watch(): Promise<RunState>;
  /** For those who watch the run, see `broker/watch`. */
  readonly watched: WatchedBroker;
  /** Ends every browser. Returns the run's record, not validated here; the broker has written it by then. */
  finish(): Promise<unknown>;
  close(): void;
  /** Resolves when the connection is closed; true: because the broker hangs. */
  readonly closed: Promise<boolean>;
  /** Lets the process exit while the connection is open. */
  unref(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects a worker or a runner to its broker.
 * @param ownProject a project that is not part of the run: known on this connection only
 * @throws LeaseError `BROKER_LOST` when no broker responds at this address
 */
export async function connectToBroker(
  address: BrokerAddress,
  role: 'worker' | 'control',
  ownProject?: HostedProject,
): Promise<BrokerConnection> {
  const opened = await openBroker(address, role, ownProject);
  const { requests, socket, pinger, ask } = opened;
  let cancels = 0;
  const lease = async (params: LeaseParams): Promise<LeasedBrowser> => {
    const before = cancels;
    const leased = v.parse(leasedBrowser, await ask(METHODS.lease, params));
    if (!params.prefetch || cancels === before) return leased;
    const { sessionId } = leased;
    await ask(METHODS.giveBack, { sessionId, condition: 'healthy', toBeReplaced: false, unused: true });
    throw new PrefetchCancelled();
  };
  return {
    closed: requests.closed,
    unref: () => socket.unref(),
    allowSilence: (ms) => pinger.allowSilence(ms),
    slot: opened.slot,
    lease,
    cancelPrefetch: async () => {
      cancels += 1;
      await ask(METHODS.cancelPrefetch, {});
    },
    giveBack: async (params) => void (await ask(METHODS.giveBack, params)),
    isWanted: async (params) => v.parse(v.boolean(), await ask(METHODS.isWanted, params)),
    testUsage: async (params) => void (await ask(METHODS.testUsage, params)),
    sessionReport: async (sessionId) => v.parse(sessionReport, await ask(METHODS.sessionReport, { sessionId })),
    redact: async (params) => v.parse(redactedTexts, await ask(METHODS.redact, params)),
    say: async (text) => void (await ask(METHODS.say, { text })),
    prefetch: async (params) => void (await ask(METHODS.prefetch, params)),
    remaining: async (params) => void (await ask(METHODS.remaining, params)),
    watch: async () => v.parse(runState, await ask(METHODS.watch, {})),
    watched: {
      orders: async (slot, after) => v.parse(watchOrders, await ask(METHODS.watched, { slot, after })),
      ask,
    },
    finish: () => ask(METHODS.finish, {}),
    close: () => socket.destroy(),
  };
}

/** A connection to a broker that has accepted it. */
export interface OpenedBroker {
  socket: Socket;
  requests: OpenRequests;
  pinger: Pinger;
  /** See {@link BrokerConnection.slot}. */
  slot: number | null;
  ask(method: Method, params: object): Promise<unknown>;
}

/** Opens a connection and sends `hello`. @throws LeaseError as {@link connectToBroker} */
export async function openBroker(
  { address, token }: BrokerAddress,
  role: 'worker' | 'control' | 'watcher',
  ownProject?: HostedProject,
): Promise<OpenedBroker> {
  const socket = await openSocket(address);
  const requests = new OpenRequests(socket);
  const hello = await requests.ask(METHODS.hello, { token, version: PROTOCOL_VERSION, role, ownProject });
  return {
    socket,
    requests,
    pinger: new Pinger(requests),
    slot: v.parse(welcome, hello).slot,
    ask: (method, params) => requests.ask(method, params),
  };
}

/** Pings the broker: shows that this process is alive, and checks that the broker is. */
class Pinger {
  #silentMs: number | null = null;
  readonly #requests: OpenRequests;

  constructor(requests: OpenRequests) {
    this.#requests = requests;
    const timer = setInterval(() => this.#ping(), PING_MS).unref();
    void requests.closed.then(() => clearInterval(timer));
  }

  allowSilence(ms: number | null): void {
    if (ms === this.#silentMs) return;
    this.#silentMs = ms;
    this.#ping();
  }

  #ping(): void {
    this.#requests.ask(METHODS.ping, { silentMs: this.#silentMs }).catch(() => undefined);
  }
}

async function openSocket(path: string): Promise<Socket> {
  const socket = connect(path);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
        reject(brokerLost(`no response within ${CONNECT_TIMEOUT_MS / 1000} s`)),
      );
      socket.once('error', reject);
      socket.once('connect', resolve);
    });
  } catch (error) {
    socket.destroy();
    throw error instanceof LeaseError ? error : brokerLost(error);
  }
  socket.setTimeout(0);
  socket.removeAllListeners('error');
  socket.on('error', () => undefined); // 'close' follows and is handled
  return socket;
}
