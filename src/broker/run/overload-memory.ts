import type { RetryInfo } from '../../service/index.ts';
import type { Log } from '../process/log.ts';

/** For so long after the service refused, its refusal is what a request waits for, in ms. */
const LATELY_MS = 45_000;

/** Remembers what the service said last instead of giving a browser. */
export class OverloadMemory {
  #text = '';
  #until = 0;

  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  saw({ request, attempt, status, delayMs, message }: RetryInfo): void {
    this.#log.info(`asking again in ${delayMs} ms (attempt ${attempt} of ${request} failed): ${message}`);
    this.#text = status === 0 ? 'the service does not answer' : `the service answered ${status}`;
    this.#until = Date.now() + LATELY_MS;
  }

  /** Null when it has not refused lately. */
  lately(): string | null {
    return Date.now() < this.#until ? `${this.#text}, asking again` : null;
  }
}
