import type { Socket } from 'node:net';
import type { Clock } from '../../common/clock.ts';
import type { PoolwrightError } from '../../errors.ts';
import { LineSocket } from './line-socket.ts';
import type { Answer, Method } from './protocol.ts';
import { BROKER_SILENT_MS, watchSilence } from './silence.ts';
import { brokerLost, fromWire } from './wire-error.ts';

/** Characters of the longest answer: a run's whole record is one. */
const LONGEST_ANSWER = 256 * 1024 ** 2;

interface Pending {
  resolve(result: unknown): void;
  reject(error: PoolwrightError): void;
}

/**
 * What is asked over one connection to the broker. Requests without an answer reject when it breaks, and when the broker
 * hangs: nothing has come for 15 s although something was asked.
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
    const onMessage = (message: object) => this.#answered(message as Answer);
    this.#lines = new LineSocket(socket, { onMessage, maxLength: LONGEST_ANSWER });
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

  /** @throws what the broker answers, LeaseError `BROKER_LOST` when the connection breaks or is closed, or it hangs */
  ask(method: Method, params: object): Promise<unknown> {
    if (this.#socket.destroyed) return Promise.reject(lost(false));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#lines.send({ id, method, params });
    });
  }

  #answered(answer: Answer): void {
    const pending = this.#pending.get(answer.id);
    if (!pending) return;
    this.#pending.delete(answer.id);
    if ('error' in answer) pending.reject(fromWire(answer.error));
    else pending.resolve(answer.result);
  }
}

function lost(hangs: boolean): PoolwrightError {
  return brokerLost(hangs ? `it has not answered for ${BROKER_SILENT_MS / 1000} s` : 'its connection closed');
}
