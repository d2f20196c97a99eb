import type { Clock, Timer } from '../../common/clock.ts';
import type { Log } from '../log/log.ts';
import type { RequestDeadline } from './request-deadline.ts';

/** Requests that become late within this time share one line, in ms. */
const TOGETHER_MS = 200;

/** Shows in the terminal which workers wait and for what: one line for all that wait for the same. */
export class WaitNotices {
  readonly #late = new Map<string, RequestDeadline[]>();
  #timer: Timer | null = null;
  readonly #log: Log;
  readonly #clock: Clock;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  add(deadline: RequestDeadline): void {
    this.#late.set(deadline.waitsFor, [...(this.#late.get(deadline.waitsFor) ?? []), deadline]);
    this.#timer ??= this.#clock.after(TOGETHER_MS, () => this.#print());
  }

  /** Prints nothing more. */
  stop(): void {
    this.#timer?.cancel();
    this.#late.clear();
  }

  #print(): void {
    for (const [what, deadlines] of this.#late) {
      const [first] = deadlines;
      if (!first) continue;
      const others = deadlines.length > 1 ? ` and ${deadlines.length - 1} more` : '';
      this.#log.momentary(`${first.who}${others} without a browser for ${first.waitedSeconds} s: ${what}`);
    }
    this.#late.clear();
    this.#timer = null;
  }
}
