import { LeaseError } from '../errors.ts';
import type { CdpMessage } from './message.ts';

/**
 * IDs of commands that are ours, counted downwards from here. Playwright counts up from 1 and uses -9999 once; an
 * answer with an ID it does not know makes it throw, so ours must be told apart for certain.
 */
const FIRST_OWN_ID = -1_000_000_000;

/** Bound on one answer, in ms. */
const ANSWER_TIMEOUT_MS = 30_000;

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Commands of our own on a link that is Playwright's. */
export class OwnCommands {
  readonly #send: (message: CdpMessage) => void;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = FIRST_OWN_ID;

  /** @param send puts a message on the link */
  constructor(send: (message: CdpMessage) => void) {
    this.#send = send;
  }

  /** Sends a command whose answer does not matter. */
  post(method: string, params?: object, sessionId?: string): void {
    this.#send({ id: this.#nextId--, method, ...(params && { params }), ...(sessionId && { sessionId }) });
  }

  /**
   * Sends a command and answers its `result`.
   * @throws LeaseError `CONNECT_FAILED` with the browser's message, or when the link closed or 30 s went by
   */
  call(method: string, params: object, sessionId?: string): Promise<unknown> {
    const id = this.#nextId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(id, { error: { message: 'no answer' } }, method), ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.post(method, params, sessionId);
    });
  }

  /** Whether a message answers a command of ours, which is then settled: nobody else may see it. */
  takes(message: CdpMessage): boolean {
    if (message.id === undefined || message.id > FIRST_OWN_ID) return false;
    this.#settle(message.id, message);
    return true;
  }

  /** The link is down: nothing will be answered. */
  end(): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, { error: { message: 'the link closed' } });
  }

  #settle(id: number, { result, error }: CdpMessage, method = 'a command'): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new LeaseError('CONNECT_FAILED', `The browser refused ${method}: ${error.message ?? ''}`));
  }
}
