import { PoolwrightError } from '../../errors.ts';
import type { CdpMessage } from './message.ts';

/**
 * IDs of commands that are ours, counted downwards from here. Playwright counts up from 1 and uses -9999 once; an
 * answer with an ID it does not know makes it throw, so ours must be told apart for certain.
 */
const FIRST_OWN_ID = -1_000_000_000;

/** Bound on one answer, in ms: some MB to a far browser take their time. */
const ANSWER_TIMEOUT_MS = 60_000;

interface Waiting {
  method: string;
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

  /** Sends a command whose answer does not matter. Answers its ID. */
  post(method: string, params: object = {}, sessionId?: string): number {
    const id = this.#nextId--;
    this.#send({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    return id;
  }

  /**
   * Sends a command and answers its `result`.
   * @throws PoolwrightError `SERVICE_BAD_RESPONSE` when the browser refuses, `BROWSER_LOST` when the link closed,
   * `TIMEOUT` after 60 s
   */
  call(method: string, params?: object, sessionId?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.post(method, params, sessionId);
      const timer = setTimeout(() => {
        const seconds = ANSWER_TIMEOUT_MS / 1000;
        this.#fail(id, 'TIMEOUT', `the browser did not answer ${method} within ${seconds} s`);
      }, ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, { method, resolve, reject, timer });
    });
  }

  /** Whether a message answers a command of ours, which is then settled: nobody else may see it. */
  takes({ id, result, error }: CdpMessage): boolean {
    if (id === undefined || id > FIRST_OWN_ID) return false;
    if (error) {
      const { method } = this.#waiting.get(id) ?? {};
      this.#fail(id, 'SERVICE_BAD_RESPONSE', `the browser refused ${method}: ${error.message}`);
    } else {
      this.#settle(id)?.resolve(result);
    }
    return true;
  }

  /** The link is down: nothing will be answered. */
  end(): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, 'BROWSER_LOST', 'the link to the browser closed');
  }

  #fail(id: number, code: 'TIMEOUT' | 'SERVICE_BAD_RESPONSE' | 'BROWSER_LOST', message: string): void {
    this.#settle(id)?.reject(new PoolwrightError(code, message));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting) clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    return waiting;
  }
}
