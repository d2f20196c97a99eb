import { clearTimeout, setTimeout } from '../../common/clock.ts';
import { errorOf } from '../../errors.ts';
import type { CdpMessage } from '../message.ts';
import type { BrowserCommands, Interceptor } from './interceptor.ts';

/**
 * IDs of commands that do not come from the client, counted down from here: first those that only their sender sees,
 * then those that pass other interceptors. Playwright counts up from 1 and uses -9999 once. It throws on a response
 * with an unknown ID, so our IDs must never clash with its own. Chromium accepts 32 bits.
 */
const FIRST_OWN_ID = -1_000_000_000;
const FIRST_SENT_ID = -2_000_000_000;

/** Time limit for one response, in ms: several MB to a distant browser take time. */
const RESPONSE_TIMEOUT_MS = 60_000;

interface Waiting {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Whether an ID belongs to a command that the client has not sent. */
export function isOwnId(id: number | undefined): boolean {
  return id !== undefined && id <= FIRST_OWN_ID;
}

/**
 * Sends our own commands on a client's connection. The last interceptor in each list, next to the browser, so that no
 * other interceptor sees the responses.
 */
export class OwnCommands implements BrowserCommands, Interceptor {
  readonly #send: (message: CdpMessage) => void;
  readonly #waiting = new Map<number, Waiting>();
  #isOver = false;
  #nextId = FIRST_OWN_ID;
  #nextSentId = FIRST_SENT_ID;

  /** @param send puts a message on the connection */
  constructor(send: (message: CdpMessage) => void) {
    this.#send = send;
  }

  readonly post: BrowserCommands['post'] = (method, params, sessionId) => {
    this.#post(method, params, sessionId);
  };

  readonly call: BrowserCommands['call'] = (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      const id = this.#post(method, params, sessionId);
      const timer = setTimeout(() => {
        const seconds = RESPONSE_TIMEOUT_MS / 1000;
        this.#fail(id, 'TIMEOUT', `the browser did not respond to ${method} within ${seconds} s`);
      }, RESPONSE_TIMEOUT_MS);
      this.#waiting.set(id, { method, resolve, reject, timer });
      if (this.#isOver) this.end();
    });

  /**
   * Returns an ID for a command that passes other interceptors. Its response passes them, too, and is not stopped here.
   */
  newSentId(): number {
    return this.#nextSentId--;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, result, error } = message;
    const isOwn = id !== undefined && id <= FIRST_OWN_ID && id > FIRST_SENT_ID;
    if (!isOwn) return message;
    if (error) {
      const { method } = this.#waiting.get(id) ?? {};
      this.#fail(id, 'SERVICE_BAD_RESPONSE', `the browser refused ${method}: ${error.message}`);
    } else {
      this.#settle(id)?.resolve(result);
    }
    return null;
  }

  end(): void {
    this.#isOver = true;
    for (const id of [...this.#waiting.keys()]) this.#fail(id, 'BROWSER_LOST', 'the connection to the browser closed');
  }

  #post(method: string, params: object = {}, sessionId?: string): number {
    const id = this.#nextId--;
    this.#send({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    return id;
  }

  #fail(id: number, code: 'TIMEOUT' | 'SERVICE_BAD_RESPONSE' | 'BROWSER_LOST', message: string): void {
    this.#settle(id)?.reject(errorOf(code, message));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting) clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    return waiting;
  }
}
