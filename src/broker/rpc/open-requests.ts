import type { Socket } from 'node:net';
import type { Clock } from '../../common/clock.ts';
import type { PoolwrightError } from '../../errors.ts';
import { LineSocket } from './line-socket.ts';
import type { Reply } from './messages/protocol.ts';
import { brokerLost, deserializeError } from './messages/serialized-error.ts';
import { BROKER_SILENT_MS, watchSilence } from './silence.ts';

/** Length limit of a response, in characters: it may contain a run's whole record. */
const LONGEST_RESPONSE = 256 * 1024 ** 2;

interface Pending {
  resolve(result: unknown): void;
  reject(error: PoolwrightError): void;
}

/**
 * The pending requests of one connection to the broker. They reject when the connection breaks, or when the broker
 * hangs: no data has arrived for 15 s although requests are pending.
 */
export class OpenRequests {
  /** Resolves when the connection is over; true: because the broker hangs. */
  readonly closed: Promise<boolean>;

  readonly #pending = new Map<number, Pending>();
  readonly #lines: LineSocket;
  readonly #socket: Socket;
  #last = 0;

  constructor(socket: Socket, clock?: Clock) {
    this.#socket = socket;
    const onMessage = (message: object) => this.#settle(message as Reply);
    this.#lines = new LineSocket(socket, { onMessage, maxLength: LONGEST_RESPONSE });
    let hangs = false;
    const bound = () => (this.#pending.size > 0 ? BROKER_SILENT_MS : null);
    watchSilence(
      socket,
      bound,
      () => {
        hangs = true;
        socket.destroy();
      },
      clock,
    );
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        const error = lost(hangs);
        for (const { reject } of this.#pending.values()) reject(error);
        this.#pending.clear();
        resolve(hangs);
      });
    });
  }

  /**
   * @throws the broker's error; LeaseError `BROKER_LOST` when the connection breaks or is closed, or the broker hangs
   */
  ask(method: string, params: object): Promise<unknown> {
    if (this.#socket.destroyed) return Promise.reject(lost(false));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#lines.send({ id, method, params });
    });
  }

  #settle(response: Reply): void {
    const pending = this.#pending.get(response.id);
    if (!pending) return;
    this.#pending.delete(response.id);
    if ('error' in response) pending.reject(deserializeError(response.error));
    else pending.resolve(response.result);
  }
}

function lost(hangs: boolean): PoolwrightError {
  return brokerLost(hangs ? `it has not responded for ${BROKER_SILENT_MS / 1000} s` : 'its connection closed');
}
