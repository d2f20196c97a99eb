import type { Socket } from 'node:net';
import type { PoolwrightError } from '../../errors.ts';
import { LineSocket } from './line-socket.ts';
import type { Answer, Method } from './protocol.ts';
import { brokerLost, fromWire } from './wire-error.ts';

/** Characters of the longest answer: a run's whole record is one. */
const LONGEST_ANSWER = 256 * 1024 ** 2;

interface Pending {
  resolve(result: unknown): void;
  reject(error: PoolwrightError): void;
}

/** What is asked over one connection to the broker. Requests without an answer reject when it breaks. */
export class OpenRequests {
  readonly #pending = new Map<number, Pending>();
  readonly #lines: LineSocket;
  readonly #socket: Socket;
  #last = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    const onMessage = (message: object) => this.#answered(message as Answer);
    this.#lines = new LineSocket(socket, { onMessage, maxLength: LONGEST_ANSWER });
    socket.once('close', () => {
      for (const { reject } of this.#pending.values()) reject(lost());
      this.#pending.clear();
    });
  }

  /** @throws what the broker answers, LeaseError `BROKER_LOST` when the connection breaks or is closed */
  ask(method: Method, params: object): Promise<unknown> {
    if (this.#socket.destroyed) return Promise.reject(lost());
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

function lost(): PoolwrightError {
  return brokerLost('its connection closed');
}
