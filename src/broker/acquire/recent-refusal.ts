import { briefly } from '../../providers/failure-policy.ts';
import type { Refusal } from '../../providers/port.ts';
import type { Log } from '../log/log.ts';

/** How long a refusal of the service explains why a request waits, in ms. */
const LATELY_MS = 45_000;

/** Remembers the service's last refusal to provide a browser. */
export class RecentRefusal {
  #text = '';
  #until = 0;
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The service refused; the request is retried. */
  saw(refusal: Refusal): void {
    const { request, attempt, delayMs, message } = refusal;
    this.#log.info(`asking again in ${delayMs} ms (attempt ${attempt} of ${request} failed): ${message}`);
    this.#text = briefly(refusal);
    this.#until = Date.now() + LATELY_MS;
  }

  lately(): string | null {
    return Date.now() < this.#until ? `${this.#text}, asking again` : null;
  }
}
