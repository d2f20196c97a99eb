import type { Clock, Timer } from '../../../src/common/clock.ts';

/** A clock that advances only when the test advances it. */
export class ManualClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): Timer {
    const entry = { at: this.#now + ms, callback };
    this.#timers.add(entry);
    const timer: Timer = { cancel: () => void this.#timers.delete(entry), unref: () => timer };
    return timer;
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = due.at;
      due.callback();
    }
    this.#now = end;
  }
}
