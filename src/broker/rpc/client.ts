import { connect, type Socket } from 'node:net';
import * as v from 'valibot';
import { LeaseError } from '../../errors.ts';
import type { TestUsage } from '../../record/test-usage.ts';
import { AheadCancelled } from '../leasing/ahead-requests.ts';
import {
  type LeasedBrowser,
  leasedBrowser,
  type RunState,
  runState,
  type SessionReport,
  sessionReport,
  welcome,
} from './answers.ts';
import { PROTOCOL_VERSION } from './line-socket.ts';
import { OpenRequests } from './open-requests.ts';
import {
  type GiveBackParams,
  type HostedProject,
  type LeaseParams,
  METHODS,
  type Method,
  type PrefetchParams,
  type RemainingParams,
} from './protocol.ts';
import type { BrokerAddress } from './shared-broker.ts';
import { PING_MS } from './silence.ts';
import { brokerLost } from './wire-error.ts';

/** A worker's (or the run's own) line to the broker. While a worker's is open, its browser is its own. */
export interface BrokerConnection {
  /** Of a worker: a number that no other one has while this is open, the lowest that is free. */
  readonly slot: number | null;
  lease(params: LeaseParams): Promise<LeasedBrowser>;
  /**
   * Takes back every lease marked `ahead` that has not come: each rejects with LeaseError `ABORTED`, also one whose
   * browser is on its way to here, which is given back unused. One that came before is the caller's to give back.
   */
  cancelAhead(): Promise<void>;
  giveBack(params: GiveBackParams): Promise<void>;
  testUsage(params: TestUsage): Promise<void>;
  sessionReport(sessionId: string): Promise<SessionReport>;
  /** Tells the terminal, once a run. */
  say(text: string): Promise<void>;
  /**
   * How long this process may be silent from now on, in ms, before it counts as hung and what it has is taken back; null:
   * for ever, as it is without this.
   */
  allowSilence(ms: number | null): void;
  prefetch(params: PrefetchParams): Promise<void>;
  /** Which tests are still to come. Forgotten when this connection closes. */
  remaining(params: RemainingParams): Promise<void>;
  /** What becomes of the browsers. From the first time on, who asks has the terminal's lines to show. */
  watch(): Promise<RunState>;
  /** Ends every browser. The record, unread here, is the asker's to write, see {@link recorded}. */
  finish(): Promise<unknown>;
  /** Tells that the record is written: else the broker does so before it exits. */
  recorded(): Promise<void>;
  close(): void;
  /** Resolves when it is closed; true: because the broker hangs. */
  readonly closed: Promise<boolean>;
  /** Does not keep the process alive for it. */
  unref(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens a connection and says hello.
 * @param ownProject one that the run was not told of: known on this connection alone
 * @throws LeaseError `BROKER_LOST` when nobody answers there.
 */
export async function connectToBroker(
  address: BrokerAddress,
  role: 'worker' | 'control',
  ownProject?: HostedProject,
): Promise<BrokerConnection> {
  const socket = await openSocket(address.address);
  const requests = new OpenRequests(socket);
  const ask = (method: Method, params: object) => requests.ask(method, params);
  let cancels = 0;
  const lease = async (params: LeaseParams): Promise<LeasedBrowser> => {
    const before = cancels;
    const leased = v.parse(leasedBrowser, await ask(METHODS.lease, params));
    if (!params.ahead || cancels === before) return leased;
    const { sessionId } = leased;
    await ask(METHODS.giveBack, { sessionId, condition: 'healthy', toBeReplaced: false, unused: true });
    throw new AheadCancelled();
  };
  const hello = await ask(METHODS.hello, { token: address.token, version: PROTOCOL_VERSION, role, ownProject });
  const signs = new SignsOfLife(requests);
  return {
    closed: requests.closed,
    unref: () => socket.unref(),
    allowSilence: (ms) => signs.allowSilence(ms),
    slot: v.parse(welcome, hello).slot,
    lease,
    cancelAhead: async () => {
      cancels += 1;
      await ask(METHODS.cancelAhead, {});
    },
    giveBack: async (params) => void (await ask(METHODS.giveBack, params)),
    testUsage: async (params) => void (await ask(METHODS.testUsage, params)),
    sessionReport: async (sessionId) => v.parse(sessionReport, await ask(METHODS.sessionReport, { sessionId })),
    say: async (text) => void (await ask(METHODS.say, { text })),
    prefetch: async (params) => void (await ask(METHODS.prefetch, params)),
    remaining: async (params) => void (await ask(METHODS.remaining, params)),
    watch: async () => v.parse(runState, await ask(METHODS.watch, {})),
    finish: () => ask(METHODS.finish, {}),
    recorded: async () => void (await ask(METHODS.recorded, {})),
    close: () => socket.destroy(),
  };
}

/** Pings the broker: shows that this process is there, and finds out whether the broker is. */
class SignsOfLife {
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
        reject(brokerLost(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
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
  socket.on('error', () => undefined); // 'close' follows and tells
  return socket;
}
