import type { Clock, Timer } from '../../common/clock.ts';
import type { Log } from '../process/log.ts';
import type { RequestClock } from './request-clock.ts';

/** Requests that become late within this time share one line, in ms. */
const TOGETHER_MS = 200;

/** Tells the terminal who waits, and for what: one line for all who wait for the same. */
export class WaitNotices {
  readonly #late = new Map<string, RequestClock[]>();
  #timer: Timer | null = null;

  readonly #log: Log;
  readonly #clock: Clock;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  add(clock: RequestClock): void {
    this.#late.set(clock.waitsFor, [...(this.#late.get(clock.waitsFor) ?? []), clock]);
    this.#timer ??= this.#clock.after(TOGETHER_MS, () => this.#say());
  }

  /** Says nothing more. */
  stop(): void {
    this.#timer?.cancel();
    this.#late.clear();
  }

  #say(): void {
    for (const [what, clocks] of this.#late) {
      const [first] = clocks;
      if (!first) continue;
      const others = clocks.length > 1 ? ` and ${clocks.length - 1} more` : '';
      this.#log.momentary(`${first.who}${others} without a browser for ${first.waitedSeconds} s: ${what}`);
    }
    this.#late.clear();
    this.#timer = null;
  }
}
