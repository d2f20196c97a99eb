import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { clearInterval, dateNow, setInterval } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import { type Ask, type CallsOfRole, callsOver, type Role } from './call-table.ts';
import { PROTOCOL_VERSION } from './line-socket.ts';
import {
  CONNECTION_CALLS,
  type ConnectionCalls,
  type HostedProject,
  RUN_CALLS,
  type RunCalls,
} from './messages/protocol.ts';
import { PrefetchCancelled } from './messages/refusals.ts';
import { brokerLost } from './messages/serialized-error.ts';
import { OpenRequests } from './open-requests.ts';
import type { BrokerAddress } from './shared-broker.ts';
import { PING_MS } from './silence.ts';
import { isRunOver } from './socket-address.ts';

/** The connection of a worker, or of the run itself, to the broker. A worker keeps its browser while it is open. */
export interface BrokerConnection extends RunCalls {
  /** A worker's number: the lowest that no other open connection has. */
  readonly slot: number | null;
  /**
   * Leases a browser. A lease marked `prefetch` rejects with LeaseError `ABORTED` after `cancelPrefetch`: if its
   * browser is already on the way, it is given back unused. One that has resolved is the caller's to give back.
   */
  readonly lease: RunCalls['lease'];
  /**
   * Sets how long this process may be silent from now on before it counts as hung and loses its browsers, in ms; null,
   * the default: without limit.
   */
  allowSilence(ms: number | null): void;
  /** Sends a request of another table of calls. */
  readonly ask: Ask;
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
  const { requests, socket, pinger, ask, slot } = await openBroker(address, role, ownProject);
  return {
    ...runCallsOver(ask),
    slot,
    ask,
    allowSilence: (ms) => pinger.allowSilence(ms),
    close: () => socket.destroy(),
    closed: requests.closed,
    unref: () => socket.unref(),
  };
}

/** Returns the calls of a worker or a runner over its connection. */
function runCallsOver(ask: Ask): RunCalls {
  const calls = callsOver(RUN_CALLS, ask);
  let cancels = 0;
  return {
    ...calls,
    lease: async (params) => {
      const before = cancels;
      const leased = await calls.lease(params);
      if (!params.prefetch || cancels === before) return leased;
      await calls.giveBack({ sessionId: leased.sessionId, condition: 'healthy', toBeReplaced: false, unused: true });
      throw new PrefetchCancelled();
    },
    cancelPrefetch: async () => {
      cancels += 1;
      await calls.cancelPrefetch();
    },
  };
}

/** A connection to a broker that has accepted it. */
export interface OpenedBroker {
  socket: Socket;
  requests: OpenRequests;
  pinger: Pinger;
  /** See {@link BrokerConnection.slot}. */
  slot: number | null;
  ask: Ask;
}

/** Opens a connection and sends `hello`. @throws LeaseError as {@link connectToBroker} */
export async function openBroker(
  { address, token }: BrokerAddress,
  role: Role,
  ownProject?: HostedProject,
): Promise<OpenedBroker> {
  const socket = await openSocket(address);
  const requests = new OpenRequests(socket);
  const ask: Ask = (method, params) => requests.ask(method, params);
  const { hello, ping } = callsOver(CONNECTION_CALLS, ask);
  const { slot } = await hello({ token, version: PROTOCOL_VERSION, role, ownProject }).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
  return { socket, requests, pinger: new Pinger(ping, requests.closed), slot, ask };
}

/** Pings the broker: shows that this process is alive, and checks that the broker is. */
class Pinger {
  #silentMs: number | null = null;
  readonly #send: ConnectionCalls['ping'];

  constructor(send: ConnectionCalls['ping'], closed: Promise<unknown>) {
    this.#send = send;
    const timer = setInterval(() => this.#ping(), PING_MS).unref();
    void closed.then(() => clearInterval(timer));
  }

  allowSilence(ms: number | null): void {
    if (ms === this.#silentMs) return;
    this.#silentMs = ms;
    this.#ping();
  }

  #ping(): void {
    this.#send({ silentMs: this.#silentMs }).catch(() => undefined); // the connection is lost: `closed` reports it
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

/** How long a new broker, or the replacement of a dead one, may take until it listens, in ms. */
export const LISTENS_WITHIN_MS = 20_000;
/** Delay between two attempts, in ms: short while a broker starts, longer after one has died. */
const RETRY_MS = { first: 10, most: 200 };

/**
 * Connects to a broker that may not listen yet: retries until it does.
 * @param withinMs limit of the wait
 * @param isPointless whether to give up now
 * @throws LeaseError `BROKER_LOST` when no broker listens in time, or its run is over
 */
export async function connectInTime(
  withinMs: number,
  isPointless: () => boolean,
  ...[address, role, ownProject]: Parameters<typeof connectToBroker>
): Promise<BrokerConnection> {
  const until = dateNow() + withinMs;
  for (let wait = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
    try {
      return await connectToBroker(address, role, ownProject);
    } catch (error) {
      if (!isLost(error) || dateNow() >= until || isPointless() || isRunOver(address.address)) throw error;
    }
    await delay(wait);
  }
}

/**
 * A worker's connection to the broker of its run. Opens on first use, and again when the broker was replaced after a
 * crash. Every request rejects with LeaseError `BROKER_LOST` when there is no broker and none starts within 20 s.
 */
export interface BrokerClient
  extends CallsOfRole<typeof RUN_CALLS, 'worker'>,
    Pick<BrokerConnection, 'allowSilence' | 'ask'> {
  /** Closes the connection, which gives up every browser that was not given back. */
  close(): void;
}

/** @param ownProject a project that the run's broker does not know; it is sent to every broker */
export function brokerClient(address: BrokerAddress, ownProject?: HostedProject): BrokerClient {
  const connection = new LastingConnection(address, ownProject);
  const ask: Ask = (method, params) => connection.ask(method, params);
  return {
    ...runCallsOver(ask),
    ask,
    allowSilence: (ms) => connection.allowSilence(ms),
    close: () => connection.close(),
  };
}

class LastingConnection {
  #connection: Promise<BrokerConnection> | null = null;
  #closed = false;
  /** Set when no broker replaced a dead one: later requests do not wait for it again. */
  #hasNoSuccessor = false;
  #silentMs: number | null = null;

  readonly #address: BrokerAddress;
  readonly #ownProject: HostedProject | undefined;

  constructor(address: BrokerAddress, ownProject: HostedProject | undefined) {
    this.#address = address;
    this.#ownProject = ownProject;
  }

  /** Sent to every broker of the run, including one that replaces a dead one. */
  allowSilence(ms: number | null): void {
    this.#silentMs = ms;
    this.#connection?.then(
      (connection) => connection.allowSilence(ms),
      () => undefined, // the next connection gets it
    );
  }

  async ask(method: string, params: object): Promise<unknown> {
    const connecting = this.#open();
    try {
      return await (await connecting).ask(method, params);
    } catch (error) {
      if (!isLost(error) || this.#closed) throw error;
    }
    if (this.#connection === connecting) this.#connection = null;
    return await (await this.#open()).ask(method, params);
  }

  close(): void {
    this.#closed = true;
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined, // there is none
    );
  }

  #open(): Promise<BrokerConnection> {
    if (this.#closed) return Promise.reject(brokerLost('this worker has closed its connection'));
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async #connect(): Promise<BrokerConnection> {
    const within = this.#hasNoSuccessor ? 0 : LISTENS_WITHIN_MS;
    const isPointless = () => isOrphan() || this.#closed;
    try {
      const connection = await connectInTime(within, isPointless, this.#address, 'worker', this.#ownProject);
      connection.allowSilence(this.#silentMs);
      return connection;
    } catch (error) {
      this.#hasNoSuccessor ||= isLost(error);
      throw error;
    }
  }
}

/** Whether the runner is gone, so that nothing replaces a broker. False where no channel to it exists. */
function isOrphan(): boolean {
  return process.connected === false;
}

function isLost(error: unknown): boolean {
  return error instanceof LeaseError && error.code === 'BROKER_LOST';
}
